"""Untrusted result files: what lies outside their folder is not read, nor what would fill the memory."""

import os
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

import h5py
import numpy as np

GRAZE = os.environ["GRAZE"]
CASES = os.path.join(os.environ["GRAZE_SOURCE"], "data", "cases")


class UntrustedFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="graze_untrusted_")
        self.addCleanup(shutil.rmtree, self.folder)
        self.graze("run", os.path.join(CASES, "quickstart.toml"), "-o", "r.h5", "--set", "analysis.axis.points=5",
                   "--quiet")

    def path(self, name):
        return os.path.join(self.folder, name)

    def graze(self, *arguments, code=0):
        done = subprocess.run([GRAZE, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def refused(self, *says):
        for verb in ["info", "plot"]:
            err = self.graze(verb, "r.h5", code=2)
            for word in says:
                self.assertIn(word, err)
        self.assertFalse(os.path.exists(self.path("r.png")))

    def replace(self, name, make):
        """Puts what `make` makes in the place of an array, with the old dimensions."""
        with h5py.File(self.path("r.h5"), "r+") as file:
            scales = [file[dimension.label or dimension[0].name] for dimension in file[name].dims]
            flags = file[name].attrs.get("flag_meanings")
            del file[name]
            make(file)
            for dimension, scale in zip(file[name].dims, scales):
                dimension.attach_scale(scale)
            if flags is not None:
                file[name].attrs["flag_meanings"] = flags

    def test_virtual_values_from_elsewhere(self):
        shutil.copy(self.path("r.h5"), self.path("secret.h5"))
        for name in ["secret.h5", "../" + os.path.basename(self.folder) + "/secret.h5", self.path("secret.h5"),
                     "r.h5.blocks/../secret.h5", "r.h5.blocks/lock"]:
            with self.subTest(name):
                def make(file, name=name):
                    layout = h5py.VirtualLayout((5,), "i1")
                    layout[:] = h5py.VirtualSource(name, "outcome", (5,))
                    file.create_virtual_dataset("outcome", layout)
                self.replace("outcome", make)
                self.refused("none of its blocks")

    def test_blocks_whose_values_are_elsewhere(self):
        """In the master, in themselves, in a file of bytes, behind a link to another file."""
        self.graze("run", os.path.join(CASES, "quickstart.toml"), "-o", "u.h5", "--set", "analysis.axis.points=64",
                   "--set", "run.block=16", "--shard", "1/2", "--quiet")
        name = self.path("u.h5.blocks/" + next(n for n in sorted(os.listdir(self.path("u.h5.blocks")))
                                               if n.endswith(".h5")))
        self.graze("info", "u.h5")
        with h5py.File(name, "r") as block:
            shape = block["int8"].shape
        shutil.copy(self.path("r.h5"), self.path("secret.h5"))

        def virtual(target):
            def make(block):
                layout = h5py.VirtualLayout(shape, "i1")
                layout[:] = h5py.VirtualSource(target, "int8", shape)
                block.create_virtual_dataset("int8", layout)
            return make

        def external(block):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_external(self.path("secret.h5").encode(), 0, shape[0])
            h5py.h5d.create(block.id, b"int8", h5py.h5t.STD_I8LE, h5py.h5s.create_simple(shape), properties)

        def link(block):
            block["int8"] = h5py.ExternalLink(self.path("secret.h5"), "outcome")

        for make in [virtual("../u.h5"), virtual("u.h5.blocks/" + os.path.basename(name)), virtual(name),
                     external, link]:
            with h5py.File(name, "r+") as block:
                del block["int8"]
                make(block)
            self.graze("info", "u.h5", code=2)
        with h5py.File(name, "r+") as block:
            block["way"] = h5py.ExternalLink(self.path("secret.h5"), "/")

        def through(file):
            layout = h5py.VirtualLayout((5,), "i1")
            layout[:] = h5py.VirtualSource("r.h5.blocks/" + os.path.basename(name), "way/outcome", (5,))
            file.create_virtual_dataset("outcome", layout)
        self.replace("outcome", through)
        shutil.move(self.path("u.h5.blocks"), self.path("r.h5.blocks"))
        self.refused("way/outcome", "none of its blocks")

    def test_values_of_another_file(self):
        with open(self.path("secret"), "wb") as file:
            file.write(b"12345")

        def make(file):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_external(self.path("secret").encode(), 0, 5)
            h5py.h5d.create(file.id, b"outcome", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((5,)), properties)
        self.replace("outcome", make)
        self.refused("another file")

    def test_links_out_of_the_file(self):
        shutil.copy(self.path("r.h5"), self.path("secret.h5"))
        with h5py.File(self.path("r.h5"), "r+") as file:
            file["leak"] = h5py.ExternalLink("secret.h5", "lyapunov")
            file["loop"] = h5py.SoftLink("/outcome")
        done = subprocess.run([GRAZE, "info", "r.h5"], cwd=self.folder, capture_output=True, text=True, check=True)
        self.assertNotIn("leak", done.stdout)
        self.assertNotIn("loop", done.stdout)

    def test_absurd_sizes(self):
        with h5py.File(self.path("r.h5"), "r+") as file:
            del file["outcome"]
            file.create_dataset("outcome", shape=(10**15,), dtype="i1", chunks=(10**6,))
            file["huge"] = h5py.Empty("f4")
            del file["huge"]
            file.create_dataset("huge", shape=(10**15,), dtype="f4", chunks=(10**6,))
            file["huge"].make_scale("This is a netCDF dimension but not a netCDF variable.")
            file["outcome"].dims[0].attach_scale(file["huge"])
            file["outcome"].attrs["flag_meanings"] = "ok bad"
        self.refused("would take", "bytes")

    def test_absurd_sizes_together(self):
        """Each array would fit, and takes no room in the file."""
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        with h5py.File(self.path("r.h5"), "r+") as file:
            part = file.create_group("part")
            size = memory // 1000
            part.create_dataset("x", shape=(size,), dtype="i1", chunks=(10**6,))
            part["x"].make_scale("x")
            for k in range(1001):
                part[str(k)] = part["x"]
        self.assertIn("would take", self.graze("info", "r.h5", code=2))

    def test_a_group_in_itself(self):
        with h5py.File(self.path("r.h5"), "r+") as file:
            part = file.create_group("part")
            part.create_group("inner")["again"] = part
        self.assertIn("two names", self.graze("info", "r.h5", code=2))

    def exchange_dimension(self, name, size):
        """A new array becomes the dimension of `outcome`."""
        with h5py.File(self.path("r.h5"), "r+") as file:
            file.create_dataset(name, data=np.zeros(size)).make_scale(name.split("/")[-1])
            dimension = file["outcome"].dims[0]
            dimension.detach_scale(dimension[0])
            dimension.attach_scale(file[name])

    def test_dimensions_of_other_sizes(self):
        self.exchange_dimension("longer", 50)
        self.refused("outcome", "another size")

    def test_dimensions_of_another_group(self):
        self.exchange_dimension("part/other", 5)
        self.refused("outcome", "dimension")

    def test_dimensions_that_are_no_references(self):
        for values in [np.arange(64), np.zeros(1), "text"]:
            with self.subTest(values):
                with h5py.File(self.path("r.h5"), "r+") as file:
                    file["outcome"].attrs["DIMENSION_LIST"] = values
                self.refused("outcome", "dimension")

    def test_lists_of_texts(self):
        for values in [np.array([b"x" * 100] * 500), np.array(["x"] * 500, dtype=h5py.string_dtype()),
                       np.array([], dtype="S3")]:
            with self.subTest(values.dtype):
                self.setUp()
                with h5py.File(self.path("r.h5"), "r+") as file:
                    file.attrs["note"] = values
                    file["outcome"].attrs["comment"] = values
                self.graze("info", "r.h5")
                self.graze("plot", "r.h5")

    def test_classes_without_a_name(self):
        self.graze("run", os.path.join(CASES, "knocking_order.toml"), "-o", "k.h5", "--quiet", "--set",
                   "analysis.axis.points=4", "--set", "analysis.axis2.points=3", "--set", "analysis.transient=5")
        with h5py.File(self.path("k.h5"), "r+") as file:
            for name in ["itinerary", "attractor", "outcome"]:
                file[name][...] = 100
        self.graze("plot", "k.h5", "-o", "k.png")
        self.graze("info", "k.h5")

    def test_a_filter_nobody_has(self):
        def make(file):
            properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            properties.set_chunk((5,))
            properties.set_filter(32015, h5py.h5z.FLAG_OPTIONAL, ())
            h5py.h5d.create(file.id, b"outcome", h5py.h5t.STD_I8LE, h5py.h5s.create_simple((5,)), properties)
            file["outcome"].id.write_direct_chunk((0,), b"12345", 0)
        self.replace("outcome", make)
        self.refused("outcome")

    def test_names_on_the_way_that_are_links(self):
        """A link with the name of a temporary file, of the lock or of the result is not followed."""
        with open(self.path("mine"), "w", encoding="utf-8") as file:
            file.write("mine")
        case = ["run", os.path.join(CASES, "quickstart.toml"), "-o", "n.h5", "--set", "analysis.axis.points=20",
                "--set", "run.block=1", "--quiet"]
        os.mkdir(self.path("n.h5.blocks"))
        for name in ["master.tmp", "000003.h5.tmp", "000004.h5"]:
            os.symlink(self.path("mine"), self.path("n.h5.blocks/" + name))
        self.graze(*case)
        os.symlink(self.path("mine"), self.path("l.h5"))
        case[case.index("n.h5")] = "l.h5"
        self.graze(*case, code=2)
        os.mkdir(self.path("k.h5.blocks"))
        os.symlink(self.path("mine"), self.path("k.h5.blocks/lock"))
        case[case.index("l.h5")] = "k.h5"
        self.assertIn("lock", self.graze(*case, code=2))
        with open(self.path("mine"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")

    def heaps(self):
        """The bytes of the result, and the offsets of the objects in its first and in its last global heap."""
        with open(self.path("r.h5"), "rb") as file:
            whole = bytearray(file.read())
        heaps = []
        for place in [whole.find(b"GCOL"), whole.rfind(b"GCOL")]:
            at, objects = place + 16, []
            end = place + struct.unpack_from("<Q", whole, place + 8)[0]  # a full heap has no object 0
            while at < end and struct.unpack_from("<H", whole, at)[0] > 0:
                objects.append(at)
                at += 16 + (struct.unpack_from("<Q", whole, at + 8)[0] + 7) // 8 * 8
            heaps.append(objects + [at])
        return whole, heaps

    def test_what_crashes_the_library(self):
        with open(os.path.join(os.environ["GRAZE_BUILD"], "CMakeCache.txt"), encoding="utf-8") as cache:
            if "-fsanitize=address" in cache.read():
                self.skipTest("the sanitizer is there before")
        whole, (objects, _) = self.heaps()
        for size in [1 << 31, 1 << 63, (1 << 64) - 1]:
            struct.pack_into("<Q", whole, objects[0] + 8, size)
            with open(self.path("r.h5"), "wb") as file:
                file.write(whole)
            self.refused("r.h5", "it is damaged")

    def test_what_keeps_the_library_for_ever(self):
        whole, (_, objects) = self.heaps()
        struct.pack_into("<Q", whole, objects[-1] + 8, 0)
        with open(self.path("r.h5"), "wb") as file:
            file.write(whole)
        self.assertIn("does not finish reading this file", self.graze("info", "r.h5", code=2))

    def test_a_case_cannot_name_a_result_elsewhere(self):
        for name in ["../r.h5", "/tmp/graze_no_such_result.h5", "a/../../r.h5"]:
            err = self.graze("run", os.path.join(CASES, "quickstart.toml"), "--set", f'output.file="{name}"', code=2)
            self.assertTrue(re.search("output.file.*below the current folder", err), err)


if __name__ == "__main__":
    unittest.main()
