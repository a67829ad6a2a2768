"""The Python package against a library that is there: results, tables, errors, progress, sweeps, memory."""

import json
import os
import pickle
import sqlite3
import sys
import tempfile
import types
import unittest
from unittest import mock

import lockstep
from lockstep import _library, _run

GEMM = "synth:gemm,m=128,n=128,k=64"


def rows(table):
    return table.to_dict("records") if hasattr(table, "to_dict") else table


class Run(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.result = lockstep.run(GEMM, "rtx2060")

    def test_kernels_cover_the_run(self):
        kernels = rows(self.result.kernels)
        self.assertEqual([k["number"] for k in kernels], list(range(1, len(kernels) + 1)))
        self.assertEqual(sum(k["cycles"] for k in kernels), self.result.cycles)
        self.assertEqual(rows(self.result.streams)[0]["cycles"], self.result.cycles)

    def test_metrics_agree_with_themselves(self):
        by_name = {(m["type"], m["name"]): m for m in rows(self.result.metrics)}
        slots = by_name["core/cycle", "issue_slots"]
        self.assertEqual(slots["kind"], "counter")
        self.assertEqual(slots["value"], self.result.metric("issue_slots", "core/*"))
        self.assertEqual(slots["value"], sum(s["value"] for s in rows(self.result.stalls)))
        self.assertAlmostEqual(sum(s["share"] for s in rows(self.result.stalls)), 1)
        self.assertEqual(self.result.metric("warp_instructions", "core/*", kernel=1),
                         self.result.metric("warp_instructions", "core/*"))
        one = self.result.metric("warp_instructions", "core/*", path="*core0*", kernel=1)
        self.assertLess(one, self.result.metric("warp_instructions", "core/*"))

    def test_threads_change_nothing(self):
        for threads in (2, 3, 8):
            other = lockstep.run(GEMM, "rtx2060", threads=threads)
            self.assertEqual(rows(other.metrics), rows(self.result.metrics))
            self.assertEqual(rows(other.kernels), rows(self.result.kernels))

    def test_options_act(self):
        self.assertNotEqual(lockstep.run(GEMM, "rtx2060", sets={"core.scheduler": "lrr"}).cycles, self.result.cycles)
        self.assertNotEqual(lockstep.run(GEMM, "rtx2060", fidelity="memory").cycles, self.result.cycles)
        limited = lockstep.run(GEMM, "rtx2060", until="1us")
        self.assertTrue(limited.partial)
        self.assertIn("with work left", limited.partial_reason)
        self.assertEqual(limited.seconds, lockstep.run(GEMM, "rtx2060", until=1e-6).seconds)

    def test_kernels_of_a_device_list_name_their_gpu(self):
        sets = {"fabric.model": "full", "gpus.cores": 2}
        run = lockstep.run("synth:all-gather,bytes=4096,step_ns=0", "rtx2060", gpus=3, sets=sets)
        self.assertEqual({k["gpu"] for k in run.kernels}, {0, 1, 2})
        self.assertEqual(len(run.kernels), 3 * 2)

    def test_a_gpu_of_a_system(self):
        system = lockstep.run(GEMM, "rtx2060", gpus=2, on="gpu1", sets={"gpu0.l2.ways": 8})
        self.assertEqual(system.cycles, self.result.cycles)
        with self.assertRaisesRegex(lockstep.LockstepError, "there is no GPU 2"):
            lockstep.run(GEMM, "rtx2060", gpus=2, on="2")

    def test_a_result_survives_pickling(self):
        copy = pickle.loads(pickle.dumps(self.result))
        self.assertEqual(rows(copy.metrics), rows(self.result.metrics))
        self.assertEqual(copy.metric("issue_slots", "core/*"), self.result.metric("issue_slots", "core/*"))
        with self.assertRaisesRegex(lockstep.LockstepError, "closed"):
            copy.metrics_of(1)

    def test_exports(self):
        with tempfile.TemporaryDirectory() as work:
            path, base = os.path.join(work, "r.json"), os.path.join(work, "r.db")
            result = lockstep.run(GEMM, "rtx2060", out=[path])
            result.export(base, run_id="one")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file)["run"]["cycles"], result.cycles)
            self.assertTrue(os.path.exists(path + ".platform.yaml"))
            with sqlite3.connect(base) as database:
                self.assertTrue(database.execute("select count(*) from sqlite_master").fetchone()[0])
            with self.assertRaises(lockstep.LockstepError):
                lockstep.run(GEMM, "rtx2060", out="r.docx")
        self.assertIn("costliest kernels", result.summary())

    def test_programs(self):
        result = lockstep.run("fir", "r9nano", size=2048, verify=True)
        self.assertEqual(rows(result.kernels)[0]["name"], "fir")
        self.assertEqual(rows(result.stalls)[0]["reason"], "active")
        self.assertEqual(result.cycles, lockstep.run("fir", "r9nano", params={"size": 2048}, threads=3).cycles)

    def test_many_at_once(self):
        """Results are open side by side; the machine of each is its own."""
        others = [lockstep.run(GEMM, "rtx2060", sets={"core.scheduler": s}) for s in ("gto", "lrr", "gto")]
        self.assertEqual(others[0].metric("hits", "l2/*", kernel=1), others[2].metric("hits", "l2/*", kernel=1))
        self.assertEqual(others[0].cycles, others[2].cycles)
        for other in others:
            other.close()
            other.close()


class Plugins(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("PINGPONG"), "no plug-in was built")
    def test_a_plugin_is_loaded_once_and_used_twice(self):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "game.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("machine: pingpong\n")
            first, second = (lockstep.run(None, path, plugins=os.environ["PINGPONG"]) for _ in range(2))
        self.assertIsNone(first.cycles)
        self.assertEqual(rows(first.metrics), rows(second.metrics))
        self.assertIn("player/steady", {row["type"] for row in rows(first.metrics)})


class Profiles(unittest.TestCase):
    def test_a_profile_is_made_and_used(self):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "gemm.profile")
            lockstep.profile(GEMM, "rtx2060", path)
            result = lockstep.run(GEMM, "rtx2060", fidelity="memory", profile=path)
            self.assertIn("method cache", result.summary())
            with self.assertRaisesRegex(lockstep.LockstepError, "no method 'cash'.*nearest: cache"):
                lockstep.profile(GEMM, "rtx2060", path, method="cash")

    def test_rates_of_instructions_are_those_of_their_kernel(self):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "gemm.profile")
            made = lockstep.profile(GEMM, "rtx2060", path, sets={"l2.prefetch_degree": 9})
            self.assertEqual(made.path, path)
            self.assertRegex(made.warnings[0], "l2.prefetch_degree has no effect")
            kernel, insts = rows(made.kernels)[0], rows(made.instructions)
            self.assertEqual(kernel["accesses"], sum(kernel[level] for level in ("l1", "wait", "l2", "dram")))
            for name in ("accesses", "sectors", "l2_sectors", "dram_sectors"):
                self.assertEqual(kernel[name], sum(row[name] for row in insts))


class Comparisons(unittest.TestCase):
    def test_results_and_files(self):
        a = lockstep.run(GEMM, "rtx2060")
        b = lockstep.run(GEMM, "rtx2060", sets={"l2.delay_cycles": 300})
        diff = lockstep.compare(a, b)
        self.assertFalse(diff.same)
        self.assertEqual([row["b"] for row in rows(diff.config)], ["300"])
        run = rows(diff.times)[0]
        self.assertIsNone(run["kernel"])
        self.assertAlmostEqual(run["a"] * 1e-9, a.seconds)
        self.assertLess(run["a"], run["b"])
        found = [row for row in rows(diff.metrics) if (row["type"], row["name"]) == ("core/cycle", "resident_cycles")]
        self.assertEqual(found[0]["b"], b.metric("resident_cycles", "core/*"))
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "a.db")
            a.export(path)
            self.assertTrue(lockstep.compare(path, a).same)
            with self.assertRaisesRegex(lockstep.LockstepError, "no metric is called 'hots'"):
                lockstep.compare(path, a, metric="hots")


class Errors(unittest.TestCase):
    def test_the_line_of_the_command(self):
        with self.assertRaises(lockstep.LockstepError) as caught:
            lockstep.run(GEMM, "rtx2060", sets={"l2.way": 3})
        error = caught.exception
        self.assertEqual(str(error), "--set: unknown key 'l2.way' for machine 'gpu' (nearest: l2.ways)")
        self.assertEqual((error.status, error.nearest, error.exit_code), ("input", "l2.ways", 2))
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), str(error))

    def test_refusals(self):
        for arguments, options, what in (
            ((GEMM,), {}, "a platform is missing"),
            ((GEMM, "rtx2060"), {"verify": True}, "the option verify is for workloads"),
            ((GEMM, "rtx2060"), {"fidelity": "basics"}, "there is no fidelity 'basics' \\(nearest: basic\\)"),
            (("fri", "r9nano"), {}, "nearest: fir"),
            (("no/such", "rtx2060"), {}, "no/such"),
        ):
            with self.subTest(what), self.assertRaisesRegex(lockstep.LockstepError, what):
                lockstep.run(*arguments, **options)
        for options in ({"until": "soon"}, {"unmodelled": "maybe"}):
            with self.subTest(options), self.assertRaises(ValueError):
                lockstep.run(GEMM, "rtx2060", **options)

    def test_progress_can_stop_and_raise(self):
        seen = []

        def stop(now):
            seen.append(now)
            return False

        result = lockstep.run("synth:gemm,m=2048,n=2048,k=2048", "rtx2060", progress=stop)
        self.assertTrue(result.partial)
        self.assertEqual(result.partial_reason, "stopped by its caller")
        self.assertGreater(seen[0].events, 0)

        def interrupt(now):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            lockstep.run("synth:gemm,m=2048,n=2048,k=2048", "rtx2060", progress=interrupt)


class Tables(unittest.TestCase):
    def test_frames_where_pandas_is(self):
        result = lockstep.run(GEMM, "rtx2060")
        frame = mock.Mock()
        fake = types.SimpleNamespace(DataFrame=frame)
        with mock.patch.dict(sys.modules, pandas=fake), mock.patch.dict(os.environ, LOCKSTEP_PANDAS=""):
            result.stalls
        (given,), named = frame.call_args
        self.assertEqual(list(given[0]), named["columns"])
        with mock.patch.dict(sys.modules, pandas=None):
            self.assertEqual(result.stalls, given)


class Sweeps(unittest.TestCase):
    def test_a_grid_in_processes(self):
        seen = []
        s = lockstep.sweep(
            GEMM, "rtx2060", vary={"core.scheduler": ["gto", "lrr"], "l2.ways": [8, 0]}, processes=2,
            metrics=[("l2/cycle", "hits")], progress=lambda done, total: seen.append((done, total)),
        )  # fmt: skip
        table = rows(s.table)
        self.assertEqual([(r["core.scheduler"], r["l2.ways"]) for r in table],
                         [("gto", 8), ("gto", 0), ("lrr", 8), ("lrr", 0)])
        self.assertEqual(seen, [(1, 4), (2, 4), (3, 4), (4, 4)])
        self.assertEqual(len(s.failed), 2)
        self.assertIn("must be from 1", table[1]["error"])
        alone = lockstep.run(GEMM, "rtx2060", sets={"core.scheduler": "lrr", "l2.ways": 8})
        self.assertEqual(table[2]["cycles"], alone.cycles)
        self.assertEqual(table[2]["l2/cycle.hits"], alone.metric("hits", "l2/cycle"))
        self.assertEqual(s.best().result.cycles, min(r["cycles"] for r in table if r["cycles"]))


class StoredSweeps(unittest.TestCase):
    def test_a_grid_in_a_database(self):
        with tempfile.TemporaryDirectory() as work:
            path, ended = os.path.join(work, "grid.db"), []
            grid = {"l2.delay_cycles": [100, 300]}
            sweep = lockstep.sweep_db(
                GEMM, "rtx2060", path, vary=grid, jobs=2, metrics="core/*.resident_cycles", on_point=ended.append
            )
            self.assertEqual(len(ended), 2)
            self.assertEqual([p.sets["l2.delay_cycles"] for p in sweep], ["100", "300"])
            result = lockstep.run(GEMM, "rtx2060", sets={"l2.delay_cycles": 300})
            self.assertEqual(sweep.points[1].cycles, result.cycles)
            self.assertEqual(sweep.points[1].metrics["core/cycle.resident_cycles"], result.metric("resident_cycles", "core/*"))
            self.assertEqual(sweep.best().sets, {"l2.delay_cycles": "100"})
            self.assertEqual(rows(sweep.table)[0]["workload"], GEMM)
            again = lockstep.sweep_db(GEMM, "rtx2060", path, vary=grid, on_point=ended.append)
            self.assertEqual(len(ended), 2)
            self.assertEqual([p.cycles for p in again], [p.cycles for p in sweep])
            self.assertFalse(lockstep.compare(f"{path}#{sweep.points[0].run}", f"{path}#{sweep.points[1].run}").same)

    def test_callbacks_end_it(self):
        with tempfile.TemporaryDirectory() as work:
            path = os.path.join(work, "grid.db")

            def fail(done, total):
                raise KeyError(total)

            with self.assertRaises(KeyError):
                lockstep.sweep_db(GEMM, "rtx2060", path, vary={"l2.ways": [8, 16]}, progress=fail)
            with self.assertRaisesRegex(lockstep.LockstepError, "interrupted with 0 of 2 points"):
                lockstep.sweep_db(GEMM, "rtx2060", path, vary={"l2.ways": [8, 16]}, progress=lambda done, total: False)
            with self.assertRaisesRegex(lockstep.LockstepError, "record"):
                lockstep.sweep_db(GEMM, "rtx2060", path, vary={"l2.ways": [8, 16]}, record="x")


class Times(unittest.TestCase):
    def test_units(self):
        self.assertEqual(_run._time_fs("1.5us"), 1500000000)
        self.assertEqual(_run._time_fs(2), 2 * _library.FS_PER_SECOND)
        self.assertEqual(_run._time_fs(None), 0)


if __name__ == "__main__":
    unittest.main()
