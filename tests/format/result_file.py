"""Result files, finished and interrupted, in the programs that users read them with."""

import math
import os
import pathlib
import subprocess
import tempfile
import unittest

import h5py
import netCDF4
import numpy as np
import xarray as xr

BUILD = pathlib.Path(os.environ["GRAZE_BUILD"])

STARTS, DELTAS, ITERATES, STATES = 2, 11, 3, 2


def expected_state():
    """The sample's formula, NaN where an orbit is shorter."""
    s, i, k, c = np.ogrid[:STARTS, :DELTAS, :ITERATES, :STATES]
    state = np.sin(1.0 + 1000 * s + 100 * i + 10 * k + c)
    state[:, 1::2, 2, :] = math.nan
    return state


def expected_period():
    s, i = np.ogrid[:STARTS, :DELTAS]
    period = s + i
    period[:, 3] = -1
    return period


class ResultFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        subprocess.run([BUILD / "tests" / "test_format", "[.sample]"], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "GRAZE_SAMPLE": cls.folder.name})

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_xarray_opens_it_by_its_name_alone(self):
        with xr.open_dataset(self.path("joined.h5")) as data:
            self.assertEqual(dict(data.sizes), {"start": 2, "delta": 11, "iterate": 3, "state": 2})
            self.assertEqual(list(data.coords), ["delta"])
            np.testing.assert_allclose(data.delta, 0.1 + 0.05 * np.arange(DELTAS), rtol=1e-15)
            np.testing.assert_allclose(data.map_state, expected_state(), rtol=1e-15)
            np.testing.assert_array_equal(data.period, expected_period())
            self.assertEqual(data.map_state.dims, ("start", "delta", "iterate", "state"))
            # whole numbers stay whole numbers although -1 stands for no value
            self.assertEqual({name: str(data[name].dtype) for name in data.variables},
                             {"delta": "float64", "map_state": "float64", "attractor": "int8",
                              "period": "int32", "impacts": "int64"})
            self.assertEqual(data.delta.attrs["units"], "rad/s")
            self.assertEqual(data.map_state.attrs["comment"], "δ in rad/s")
            self.assertEqual(data.attractor.attrs["flag_meanings"].split(),
                             ["undetermined", "periodic", "chaotic"])
            np.testing.assert_array_equal(data.attractor.attrs["flag_values"], np.array([0, 1, 2], np.int8))
            self.assertEqual(data.attractor.attrs["flag_values"].dtype, np.int8)
            self.assertEqual(data.attrs["case_toml"], 'graze = 1\ntitle = "sample β"\n')
            self.assertEqual(data.attrs["overrides"], "")
            self.assertEqual(float(data.period.sel(delta=0.2, method="nearest")[1]), 3)

    def test_xarray_opens_an_interrupted_result(self):
        with xr.open_dataset(self.path("interrupted.h5")) as data:
            there = np.zeros((STARTS, DELTAS), bool)
            there[0, :4] = True
            there[1, 4:8] = True
            np.testing.assert_array_equal(data.period, np.where(there, expected_period(), -1))
            np.testing.assert_allclose(
                data.map_state, np.where(there[:, :, None, None], expected_state(), math.nan), rtol=1e-15)
            self.assertEqual(data.period.dtype, np.int32)

    def test_an_interrupted_result_reads_from_any_working_folder(self):
        with tempfile.TemporaryDirectory() as elsewhere:
            here = os.getcwd()
            os.chdir(elsewhere)
            try:
                with h5py.File(self.path("interrupted.h5")) as file:
                    self.assertEqual(int((file["period"][...] != -1).sum()), 7)
            finally:
                os.chdir(here)

    def test_storage(self):
        with h5py.File(self.path("joined.h5")) as file:
            for name in ("delta", "map_state", "attractor", "period", "impacts"):
                array = file[name]
                self.assertEqual((array.compression, array.compression_opts), ("gzip", 1), name)
                self.assertTrue(array.shuffle, name)
                self.assertTrue(array.fletcher32, name)
                self.assertFalse(array.is_virtual, name)
            self.assertEqual([axis[0].name for axis in file["map_state"].dims],
                             ["/start", "/delta", "/iterate", "/state"])
            for owner in (file, *file.values()):
                for name, text in owner.attrs.items():
                    kind = h5py.check_string_dtype(owner.attrs.get_id(name).dtype)
                    if isinstance(text, str) and name not in ("CLASS", "NAME"):
                        self.assertEqual((kind.encoding, kind.length), ("utf-8", None), name)
        with h5py.File(self.path("interrupted.h5")) as file:
            self.assertTrue(file["period"].is_virtual)
            self.assertEqual({s.file_name for s in file["period"].virtual_sources()},
                             {f"interrupted.h5.blocks/{k:06}.h5" for k in range(6)})

    def test_netcdf_library(self):
        with netCDF4.Dataset(self.path("joined.h5")) as data:
            self.assertEqual(data.variables["period"].dimensions, ("start", "delta"))
            state = data.variables["map_state"][...]
            np.testing.assert_array_equal(np.ma.getmaskarray(state), np.isnan(expected_state()))
            self.assertFalse(np.ma.is_masked(data.variables["period"][...]))

    def test_a_motion_without_events(self):
        with xr.open_dataset(self.path("motion.h5")) as data:
            self.assertEqual(data.sizes["event"], 0)
            self.assertEqual(data.event_time.dtype, np.float64)
            self.assertEqual(float(data.energy), 2.5)
            np.testing.assert_array_equal(data.time, [0, 0.25, 0.5, 0.75, 1])

    def test_ncdump(self):
        for name in ("joined.h5", "interrupted.h5", "motion.h5"):
            header = subprocess.run(["ncdump", "-h", self.path(name)], check=True, capture_output=True,
                                    text=True).stdout
            self.assertIn('string :filetype = "graze result"', header)
            if name != "motion.h5":
                self.assertIn("double map_state(start, delta, iterate, state) ;", header)
                self.assertIn("byte attractor(start, delta) ;", header)

    def test_octave(self):
        # Octave counts dimensions from the fastest.
        commands = (f"d = load('{self.path('joined.h5')}');"
                    "printf('%d ', size(d.map_state)); printf('%s ', class(d.attractor), class(d.period));"
                    "printf('%d ', d.period(:, 2)); printf('%.15g', d.delta(3));")
        result = subprocess.run(["octave-cli", "--norc", "--quiet", "--eval", commands], check=True,
                                capture_output=True, text=True)
        self.assertEqual(result.stdout.split(),
                         ["2", "3", "11", "2", "int8", "int32", *map(str, expected_period()[1]), "0.2"])


if __name__ == "__main__":
    unittest.main()
