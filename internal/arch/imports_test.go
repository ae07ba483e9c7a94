package arch

import "testing"

func TestImports(t *testing.T) {
	const ours = `"github.com/unloop-ai/unloop`
	t.Run("an import in the table is allowed", func(t *testing.T) {
		expect(t, checkImports, example{
			"run.go":                       "package unloop\nimport (\n\"strings\"\n" + ours + "/internal/fingerprint\"\n)",
			"detect/cycle.go":              "package detect\nimport " + ours + "\"",
			"internal/ingest/codex/d.go":   "package codex\nimport " + ours + "/internal/ingest\"",
			"internal/app/app.go":          "package app\nimport " + ours + "/internal/ingest/codex\"",
			"internal/ingest/otlp/span.go": "package otlp\nimport \"go.opentelemetry.io/collector/pdata/ptrace\"",
		})
	})
	t.Run("a detector must not reach the edge", func(t *testing.T) {
		expect(t, checkImports, example{"detect/cycle.go": "package detect\nimport " + ours + "/internal/report\""},
			"detect/cycle.go:2: detect must not import github.com/unloop-ai/unloop/internal/report: see its row in internal/arch/imports.go")
	})
	t.Run("the root must not import what is built on it", func(t *testing.T) {
		expect(t, checkImports, example{"run.go": "package unloop\nimport " + ours + "/policy\""},
			"run.go:2: the root must not import github.com/unloop-ai/unloop/policy: see its row in internal/arch/imports.go")
	})
	t.Run("one decoder must not import another", func(t *testing.T) {
		expect(t, checkImports, example{"internal/ingest/codex/d.go": "package codex\nimport " + ours + "/internal/ingest/openai\""},
			"internal/ingest/codex/d.go:2: internal/ingest/codex must not import "+
				"github.com/unloop-ai/unloop/internal/ingest/openai: see its row in internal/arch/imports.go")
	})
	t.Run("a library is allowed only in the rows that list it", func(t *testing.T) {
		expect(t, checkImports, example{"policy/ladder.go": "package policy\nimport yaml \"go.yaml.in/yaml/v3\""},
			"policy/ladder.go:2: policy must not import go.yaml.in/yaml/v3: see its row in internal/arch/imports.go")
	})
	t.Run("a library whose name only begins like a listed one is not allowed", func(t *testing.T) {
		expect(t, checkImports, example{"profile/load.go": "package profile\nimport \"go.yaml.in/yaml/v33\""},
			"profile/load.go:2: profile must not import go.yaml.in/yaml/v33: see its row in internal/arch/imports.go")
	})
	t.Run("a package without a row is reported once, with what to do", func(t *testing.T) {
		expect(t, checkImports, example{"internal/new/a.go": "package new", "internal/new/b.go": "package new"},
			"internal/new is not in the import table: add a row with its imports to internal/arch/imports.go, "+
				"and a line to ARCHITECTURE.md")
	})
	t.Run("a test may import helpers, test libraries and its own package", func(t *testing.T) {
		expect(t, checkImports, example{
			"internal/ingest/codex/d_test.go": "package codex_test\nimport (\n" + ours + "/internal/ingest/ingesttest\"\n" +
				ours + "/internal/ingest/codex\"\n\"github.com/google/go-cmp/cmp\"\n)",
		})
	})
	t.Run("a test must not import a sibling", func(t *testing.T) {
		expect(t, checkImports, example{"internal/ingest/codex/d_test.go": "package codex\nimport " + ours + "/internal/ingest/openai\""},
			"internal/ingest/codex/d_test.go:2: a test of internal/ingest/codex must not import "+
				"github.com/unloop-ai/unloop/internal/ingest/openai: see its row in internal/arch/imports.go")
	})
	t.Run("the program must not import a store that is for applications", func(t *testing.T) {
		expect(t, checkImports, example{"internal/app/app.go": "package app\nimport " + ours + "/swarm/redisstore\""},
			"internal/app/app.go:2: internal/app must not import github.com/unloop-ai/unloop/swarm/redisstore: "+
				"see its row in internal/arch/imports.go")
	})
	t.Run("only tests import helpers and test libraries", func(t *testing.T) {
		expect(t, checkImports, example{
			"internal/app/app.go": "package app\nimport (\n" + ours + "/internal/ingest/ingesttest\"\n\"pgregory.net/rapid\"\n)",
		},
			"internal/app/app.go:3: internal/app must not import github.com/unloop-ai/unloop/internal/ingest/ingesttest: "+
				"see its row in internal/arch/imports.go",
			"internal/app/app.go:4: internal/app must not import pgregory.net/rapid: see its row in internal/arch/imports.go")
	})
}
