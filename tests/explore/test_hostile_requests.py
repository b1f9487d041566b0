"""Requests to `graze explore` that are not its page's own, or are wrong or too large: nothing comes of them, and
the page works as before."""

import concurrent.futures
import json
import os
import socket
import struct
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "support"))
from browser import PATIENCE, SWEEP, Explorer  # noqa: E402


def job(*runs):
    return json.dumps({"runs": [list(run) for run in runs]}).encode()


def frames(content):
    """Headers of the frames in an answer."""
    headers = []
    while content:
        head, values = struct.unpack_from("<II", content)
        headers.append(json.loads(content[8:8 + head]))
        content = content[8 + head + values:]
    return headers


SMALL = job(["analysis.axis.points=3"])


class HostileRequests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="graze_hostile_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(self.folder, "sweep.toml"), "w", encoding="utf-8") as file:
            file.write(SWEEP)
        self.explorer = Explorer("sweep.toml", folder=self.folder)
        self.addCleanup(self.explorer.end)
        self.files = sorted(os.listdir(self.folder))

    def tearDown(self):
        """The program lives, has written nothing, and answers as it should."""
        self.assertIsNone(self.explorer.process.poll())
        self.assertEqual(self.files, sorted(os.listdir(self.folder)))
        status, content = self.explorer.ask("run/after", SMALL)
        self.assertEqual(200, status, content)
        self.assertEqual(3, frames(content)[0]["dimensions"]["delta"])

    def refused(self, status, answer):
        self.assertEqual(status, answer[0], answer[1][:200])
        return json.loads(answer[1])["error"]

    def raw(self, data):
        """What comes back for bytes; "" when the connection is only closed."""
        with socket.create_connection(("127.0.0.1", self.explorer.port), PATIENCE) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
                parts = []
                while part := connection.recv(65536):
                    parts.append(part)
                return b"".join(parts)
            except OSError:  # closed while it was being written to
                return b""

    def test_without_the_token(self):
        self.assertEqual(34, len(self.explorer.path))
        own = self.explorer.path
        for path in ("/", "//", "/x/", own[:-1], own[:-2] + "/", "/" + "A" * 32 + "/", own.upper(), own[1:]):
            self.explorer.path = path
            with self.subTest(path=path):
                self.assertIn(self.explorer.ask()[0], (400, 403))
                self.assertIn(self.explorer.ask("run/a", SMALL)[0], (400, 403))
        self.explorer.path = own

    def test_of_other_hosts_and_origins(self):
        port = self.explorer.port
        for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", ""):
            self.refused(403, self.explorer.ask("run/a", SMALL, Host=host))
        for origin in ("http://evil.example", "null", f"https://127.0.0.1:{port}", f"http://127.0.0.1:{port}.evil.example"):
            self.refused(403, self.explorer.ask("run/a", SMALL, Origin=origin))
        self.assertEqual(200, self.explorer.ask("run/a", SMALL, Origin=f"http://127.0.0.1:{port}")[0])
        self.refused(415, self.explorer.ask("run/a", SMALL, Content_Type="text/plain"))

    def test_answers_are_closed_to_other_pages(self):
        with socket.create_connection(("127.0.0.1", self.explorer.port)) as connection:
            connection.sendall(f"GET {self.explorer.path} HTTP/1.1\r\nHost: localhost:{self.explorer.port}\r\n\r\n".encode())
            head = connection.makefile("rb").read().split(b"\r\n\r\n")[0].decode()
        for line in ("Referrer-Policy: no-referrer", "X-Frame-Options: DENY", "Cross-Origin-Resource-Policy: same-origin",
                     "Cache-Control: no-store", "default-src 'none'"):
            self.assertIn(line, head)
        self.assertNotIn("Access-Control", head)

    def test_malformed(self):
        for body in (b"", b"{", b"[1,", b"nul", b'{"runs": 1}', b'{"runs": []}', b'{"runs": [1]}', b'{"runs": [[1]]}',
                     b"\xff\xfe", b'{"runs":' + b"[" * 30000, b'{"runs": [["\\ud800"]]}',
                     job(*[["model.r1=0.5"]] * 17), job(["model.r1=0.5"] * 101)):
            with self.subTest(body=body[:40]):
                self.refused(400, self.explorer.ask("run/a", body))
        for lane in ("run/", "run/../../etc", "run/a%00b", "run/" + "a" * 65, "none", "../app.js"):
            self.assertGreaterEqual(self.explorer.ask(lane, SMALL)[0], 400)
        self.assertEqual(405, self.explorer.ask("app.js", b"{}")[0])
        for junk in (b"\r\n\r\n", b"\x00" * 1000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"a" * 100000):
            self.assertNotIn(b"200 OK", self.raw(junk)[:20])
        large = self.raw(f"POST {self.explorer.path}run/a HTTP/1.1\r\nHost: 127.0.0.1:{self.explorer.port}\r\n"
                         "Content-Type: application/json\r\nContent-Length: 10000000\r\n\r\n".encode() + b"x" * 100000)
        self.assertNotIn(b"200 OK", large[:20])

    def test_wrong_values(self):
        for settings, words in [
            (["model.r1=2"], "--set: model.r1 = 2: must satisfy 0 <= x <= 1"),
            (["model.r1=nan"], "model.r1"), (["model.r1=1e999"], "model.r1"),
            (["model.rr=0.5"], "did you mean"), (["analysis.points"], "key=value"), (["model.r1={"], "TOML"),
            (["analysis.axis.points=1000000000000"], "at most 20000"), (["analysis.axis.points=1e18"], "at most 20000"),
            (["analysis.axis={parameter=\"delta\",from=1,to=2,points=9223372036854775807}"], "at most 20000"),
            (["analysis.axis.points=-1"], "points"), (["analysis.record=99999999"], "at most 20000"),
            (["analysis.axis.from=-1e308", "analysis.axis.to=1e308"], "delta"),
            (["analysis={name=\"simulate\",periods=1e300}"], "at most 10000"),
            (["analysis={name=\"simulate\",periods=10000,samples_per_period=10000}"], "at most 2000000 samples"),
            (["model.name=\"bouncing_ball\""], "one model"), (["model={file=\"/etc/passwd\"}"], "one model"),
            (["analysis={name=\"continue\",axis={parameter=\"delta\",from=0.7,to=1},start=\"from_sweep\",sweep=\"/etc/passwd\"}"], "one set of files"),
        ]:
            with self.subTest(settings=settings):
                self.assertIn(words, self.refused(400, self.explorer.ask("run/a", job(settings))))

    @unittest.skipIf("asan" in os.environ["GRAZE"], "the address sanitizer takes all of the address space itself")
    def test_more_memory_than_there_is(self):
        words = self.refused(400, self.explorer.ask("run/a", job(["analysis={name=\"simulate\",end_time=3.5e6,samples_per_period=10000}"])))
        self.assertIn("more memory than a page may take", words)

    def test_output_is_never_written(self):
        self.assertEqual(200, self.explorer.ask("run/a", job(["output.file=\"stolen.h5\"", "analysis.axis.points=3"]))[0])

    def test_newer_request_ends_the_older(self):
        slow = job(["model.f1=0.05", "analysis.axis.points=20000", "analysis.transient=900000", "analysis.axis.from=1.45", "analysis.axis.to=1.5"])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            older = pool.submit(self.explorer.ask, "run/a", slow)
            time.sleep(0.5)
            self.assertEqual(200, self.explorer.ask("run/a", SMALL)[0])
            self.refused(409, older.result(PATIENCE))

    def children(self):
        pid = self.explorer.process.pid
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return file.read().split()

    def test_client_that_goes_away_ends_its_job(self):
        slow = job(["model.f1=0.05", "analysis.axis.points=20000", "analysis.transient=900000", "analysis.axis.from=1.45", "analysis.axis.to=1.5"])
        connection = socket.create_connection(("127.0.0.1", self.explorer.port))
        connection.sendall(f"POST {self.explorer.path}run/a HTTP/1.1\r\nHost: 127.0.0.1:{self.explorer.port}\r\nContent-Type: "
                           f"application/json\r\nContent-Length: {len(slow)}\r\n\r\n".encode() + slow)
        end = time.monotonic() + PATIENCE
        while not self.children() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual(1, len(self.children()))
        connection.close()
        while self.children() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertEqual([], self.children())

    def test_crash_of_a_job_harms_nothing_else(self):
        slow = job(["model.f1=0.05", "analysis.axis.points=20000", "analysis.transient=900000", "analysis.axis.from=1.45", "analysis.axis.to=1.5"])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answer = pool.submit(self.explorer.ask, "run/a", slow)
            end = time.monotonic() + PATIENCE
            while not self.children() and time.monotonic() < end:
                time.sleep(0.02)
            os.kill(int(self.children()[0]), 11)
            self.assertIn("signal 11", self.refused(500, answer.result(PATIENCE)))

    def test_a_thousand_at_once(self):
        connections = []
        data = (f"POST {self.explorer.path}run/a%d HTTP/1.1\r\nHost: 127.0.0.1:{self.explorer.port}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(SMALL)}\r\n\r\n")
        for k in range(1000):
            connection = socket.create_connection(("127.0.0.1", self.explorer.port), PATIENCE)
            connection.sendall((data % (k % 20)).encode() + SMALL)
            connections.append(connection)
        answers = []
        for connection in connections:
            try:
                answers.append(connection.makefile("rb").readline().split()[1:2])
            except ConnectionResetError:
                answers.append([])
            connection.close()
        statuses = {answer[0] for answer in answers if answer}
        self.assertLessEqual(statuses, {b"200", b"409", b"503"})
        self.assertIn(b"200", statuses)
        # Others that say nothing do not keep the page waiting.
        idle = [socket.create_connection(("127.0.0.1", self.explorer.port)) for _ in range(200)]
        self.assertEqual(200, self.explorer.ask("app.js")[0])
        for connection in idle:
            connection.close()


if __name__ == "__main__":
    unittest.main()
