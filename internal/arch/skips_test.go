package arch

import "testing"

func TestSkips(t *testing.T) {
	const because = ": tests must not be skipped; let it fail and name what it lacks"
	t.Run("a method Skip outside of tests is accepted", func(t *testing.T) {
		expect(t, checkSkips, example{
			"read.go":                             "package unloop\nfunc f() { in.Skip() }",
			"cli/testdata/script/scan.txtar":      "# skip nothing\nexec unloop scan -\n-- skip.txt --\nskip this line",
			"internal/fingerprint/mask_test.go":   "package fingerprint\n\nimport \"testing\"\n\n//go:build is only a word here\nfunc TestMask(t *testing.T) {}",
			"internal/fingerprint/mask_linux.go":  "//go:build linux\n\npackage fingerprint",
			"internal/fingerprint/mask2_test.go":  "// Package comment.\npackage fingerprint\n",
			"internal/fingerprint/testing_dir.md": "t.Skip()",
		})
	})
	t.Run("a test that skips itself is reported", func(t *testing.T) {
		expect(t, checkSkips, example{
			"run_test.go": "package unloop\nimport \"testing\"\nfunc TestRun(t *testing.T) {\nif testing.Short() {\nt.Skip()\n}\nx.t.SkipNow()\n}",
		},
			"run_test.go:4: a call that skips the test"+because, "run_test.go:5: a call that skips the test"+because,
			"run_test.go:7: a call that skips the test"+because)
	})
	t.Run("a helper that skips its caller's test is reported", func(t *testing.T) {
		expect(t, checkSkips, example{
			"detect/detecttest/play.go": "package detecttest\nimport \"testing\"\nfunc Play(tb testing.TB) {\ntb.Skipf(\"no\")\n}",
		},
			"detect/detecttest/play.go:4: a call that skips the test"+because)
	})
	t.Run("a test behind a build constraint is reported", func(t *testing.T) {
		expect(t, checkSkips, example{"run_test.go": "//go:build slow\n\npackage unloop\nimport \"testing\"\nfunc TestRun(t *testing.T) {}"},
			"run_test.go:1: a build constraint on a test"+because)
	})
	t.Run("a script that skips itself is reported", func(t *testing.T) {
		expect(t, checkSkips, example{"cli/testdata/script/a.txtar": "[short] skip\nexec unloop", "cli/testdata/script/b.txtar": "exec x\nskip 'later'\n-- f --\n"},
			"cli/testdata/script/a.txtar: a script that skips itself"+because, "cli/testdata/script/b.txtar: a script that skips itself"+because)
	})
}
