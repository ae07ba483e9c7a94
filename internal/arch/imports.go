package arch

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/unloop-ai/unloop"

// everything in a row's list means each folder of the module except the test helpers.
const everything = "*"

// importRow is what the packages of a folder may import besides the standard library.
type importRow struct {
	ours   []string // folders of this module
	others []string // modules of others
	tests  []string // folders that only its tests may import
}

// importTable is the import table. The key is a folder, or a pattern for folders without a row of their own. The pure packages come
// first, and then the others in the order of the data flow.
var importTable = map[string]importRow{
	".":                              {ours: []string{"internal/boosting", "internal/fingerprint", "internal/snapshot"}},
	"internal/fingerprint":           {others: []string{"github.com/zeebo/xxh3"}},
	"internal/boosting":              {},
	"internal/snapshot":              {},
	"internal/snapshot/snapshottest": {},
	"internal/costtest":              {others: []string{"golang.org/x/sys"}},
	"internal/goldentest":            {others: []string{"github.com/google/go-cmp"}},
	"detect":                         {ours: []string{"."}},
	"detect/detecttest":              {ours: []string{"."}},
	"internal/findings":              {ours: []string{".", "internal/snapshot"}},
	"policy":                         {ours: []string{".", "internal/findings", "internal/snapshot"}},
	"internal/settings":              {others: []string{"go.yaml.in/yaml/v3"}},
	"internal/nudge":                 {ours: []string{".", "policy", "internal/findings", "internal/fingerprint", "internal/settings"}},
	"profile": {
		ours:   []string{".", "detect", "policy", "internal/findings", "internal/nudge", "internal/settings", "internal/snapshot"},
		others: []string{"go.yaml.in/yaml/v3"},
		tests:  []string{"internal/fingerprint"},
	},

	"detect/detecttest/new": {},
	"internal/boundedmap":   {},
	"internal/names":        {},
	"swarm":                 {ours: []string{".", "internal/boundedmap"}},
	"swarm/swarmtest":       {ours: []string{".", "swarm"}, others: testLibraries},
	"swarm/redisstore":      {ours: []string{".", "swarm"}, others: []string{"github.com/redis/rueidis"}, tests: []string{"guard", "profile"}},
	"internal/natstest":     {others: []string{"github.com/nats-io/nats-server/v2"}},
	"internal/redistest":    {ours: []string{"internal/nettest"}, others: []string{"github.com/redis/rueidis"}},
	"internal/nettest":      {},
	"guard":                 {ours: []string{".", "detect", "policy", "profile", "swarm", "internal/snapshot"}},
	"guard/guardtest":       {ours: []string{".", "guard", "profile"}, others: testLibraries},
	"guard/redisstore":      {ours: []string{"guard"}, others: []string{"github.com/redis/rueidis"}, tests: []string{"profile"}},
	"guard/pgstore":         {ours: []string{"guard"}, others: []string{"github.com/jackc/pgx/v5"}},
	"e2e/goagent":           {ours: []string{"guard", "guard/reporter", "profile"}},
	"guard/reporter":        {ours: []string{".", "guard", "policy", "internal/client"}, tests: []string{"profile"}},
	"secondopinion": {
		ours:   []string{"policy", "internal/mask"},
		others: []string{"github.com/sashabaranov/go-openai"},
		tests:  []string{".", "guard", "profile"},
	},
	"otelguard": {
		ours:   []string{"policy", "guard"},
		others: []string{"go.opentelemetry.io/otel"},
		tests:  []string{"profile"},
	},
	"internal/adaptertest": {ours: []string{".", "guard", "profile"}, others: testLibraries},
	"adapters/mcpguard": {
		ours:   []string{".", "guard", "internal/adapter", "internal/boundedmap"},
		others: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	"adapters/mcpguard/example": {
		ours:   []string{"adapters/mcpguard", "guard", "profile"},
		others: []string{"github.com/modelcontextprotocol/go-sdk"},
	},
	"internal/adapter": {ours: []string{".", "guard"}},
	"adapters/openaiguard": {
		ours:   []string{".", "guard", "internal/adapter"},
		others: []string{"github.com/openai/openai-go/v3"},
	},
	"adapters/openaiguard/example": {
		ours:   []string{"adapters/openaiguard", "guard", "profile"},
		others: []string{"github.com/openai/openai-go/v3"},
	},
	"adapters/anthropicguard": {
		ours:   []string{".", "guard", "internal/adapter"},
		others: []string{"github.com/anthropics/anthropic-sdk-go"},
	},
	"adapters/anthropicguard/example": {
		ours:   []string{"adapters/anthropicguard", "guard", "profile"},
		others: []string{"github.com/anthropics/anthropic-sdk-go"},
	},
	"adapters/einoguard": {
		ours:   []string{".", "guard", "internal/adapter"},
		others: []string{"github.com/cloudwego/eino"},
	},
	"adapters/einoguard/example": {
		ours:   []string{"adapters/einoguard", "guard", "profile"},
		others: []string{"github.com/cloudwego/eino"},
	},
	"adapters/genkitguard": {
		ours:   []string{".", "guard", "internal/adapter"},
		others: []string{"github.com/firebase/genkit/go"},
	},
	"adapters/genkitguard/example": {
		ours:   []string{"adapters/genkitguard", "guard", "profile"},
		others: []string{"github.com/firebase/genkit/go"},
	},
	"examples/*": {ours: []string{"guard", "profile"}},

	"internal/ingest":   {ours: []string{".", "internal/settings"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/ingest/*": {ours: []string{".", "internal/ingest"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/ingest/otlp": {
		ours:   []string{".", "internal/ingest", "internal/trace"},
		others: []string{"github.com/go-json-experiment/json", "go.opentelemetry.io/collector/pdata"},
	},
	"internal/ingest/openaiagents": {ours: []string{"internal/ingest", "internal/trace"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/ingest/langsmith":    {ours: []string{"internal/ingest", "internal/trace"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/ingest/langfuse":     {ours: []string{"internal/ingest", "internal/trace"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/trace":               {ours: []string{".", "internal/ingest"}},
	"internal/ingest/ingesttest":   {ours: []string{".", "internal/goldentest", "internal/ingest"}},
	"internal/mask":                {ours: []string{"."}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/price":               {ours: []string{"."}, others: []string{"go.yaml.in/yaml/v3"}},
	"internal/store":               {ours: []string{".", "policy", "internal/names"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/store/sqlstore": {
		ours:   []string{"policy", "internal/store"},
		others: []string{"github.com/jackc/pgx/v5", "github.com/pressly/goose/v3", "golang.org/x/sync", "golang.org/x/sys", "modernc.org/sqlite"},
		tests:  []string{".", "internal/store/storetest/postgres"},
	},
	"internal/store/storetest":          {ours: []string{"policy", "internal/store"}, others: testLibraries},
	"internal/store/storetest/sqlite":   {ours: []string{"internal/store/sqlstore"}},
	"internal/store/storetest/postgres": {others: []string{"github.com/jackc/pgx/v5"}},
	"internal/pipeline": {
		ours:   []string{".", "policy", "profile", "internal/fingerprint", "internal/names", "internal/snapshot", "internal/store", "internal/trace"},
		others: []string{"github.com/go-json-experiment/json", "github.com/prometheus/client_golang", "golang.org/x/time"},
		tests:  []string{"detect"},
	},
	"internal/api": {
		ours:   []string{".", "policy", "internal/ingest/native", "internal/store"},
		others: []string{"github.com/go-json-experiment/json"},
	},
	"internal/suggest":   {ours: []string{"profile", "internal/store"}},
	"internal/live":      {ours: []string{"internal/store"}},
	"internal/connlimit": {},
	"internal/httpd": {
		ours:   []string{".", "policy", "internal/api", "internal/boundedmap", "internal/connlimit", "internal/ingest", "internal/ingest/native", "internal/ingest/otlp", "internal/live", "internal/memory", "internal/names", "internal/pipeline", "internal/settings", "internal/store"},
		others: []string{"github.com/danielgtaylor/huma/v2", "github.com/go-json-experiment/json", "go.opentelemetry.io/collector/pdata", "golang.org/x/sync", "golang.org/x/time", "google.golang.org/protobuf"},
		tests:  []string{"profile", "internal/store/sqlstore"},
	},
	"internal/grpcd": {ours: []string{"internal/connlimit", "internal/ingest/otlp", "internal/memory"}, others: []string{
		"go.opentelemetry.io/collector/pdata", "golang.org/x/time", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/grpc", "google.golang.org/protobuf",
	}},
	"internal/mcpd": {
		ours:   []string{".", "policy", "internal/api", "internal/client", "internal/mcplines", "internal/store"},
		others: []string{"github.com/google/jsonschema-go", "github.com/modelcontextprotocol/go-sdk"},
	},
	"internal/mcplines": {others: []string{"github.com/modelcontextprotocol/go-sdk"}},
	"internal/memory":   {others: []string{"github.com/KimMachineGun/automemlimit", "golang.org/x/sync"}},
	"internal/web":      {},
	"internal/sink": {
		ours:   []string{".", "policy", "internal/api", "internal/store"},
		others: []string{"github.com/cenkalti/backoff/v5", "golang.org/x/time"},
		tests:  []string{"internal/sink/sinktest"},
	},
	"internal/sink/sinktest": {ours: []string{"internal/store"}},
	"internal/sink/*":        {ours: []string{".", "internal/api", "internal/sink"}, tests: []string{"policy", "internal/sink/sinktest", "internal/store"}},
	"internal/sink/otlp": {
		ours:   []string{".", "internal/sink"},
		others: []string{"go.opentelemetry.io/collector/pdata", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/grpc", "google.golang.org/protobuf"},
		tests:  []string{"internal/api"},
	},
	"internal/config": {ours: []string{"detect", "profile", "internal/settings"}, others: []string{"go.yaml.in/yaml/v3"}},
	"internal/client": {
		ours:   []string{".", "internal/api", "internal/store"},
		others: []string{"github.com/cenkalti/backoff/v5"},
		tests:  []string{"internal/ingest", "internal/ingest/native"},
	},
	"internal/watch":      {},
	"internal/clustersim": {},
	"internal/loadtest":   {ours: []string{"internal/cli"}},
	"internal/report":     {ours: []string{".", "detect", "policy", "internal/api"}, others: []string{"github.com/rivo/uniseg"}},

	"internal/guardio": {
		ours:   []string{".", "guard", "policy", "profile", "swarm", "internal/boundedmap", "internal/names"},
		others: []string{"github.com/go-json-experiment/json"},
	},

	"internal/reverseproxy": {ours: []string{"internal/memory"}},
	"internal/mcpproxy": {
		ours: []string{".", "guard", "policy", "profile", "internal/mcplines", "internal/memory", "internal/nudge", "internal/reverseproxy"},
		others: []string{
			"github.com/cenkalti/backoff/v5", "github.com/go-json-experiment/json", "github.com/hashicorp/golang-lru/v2", "github.com/modelcontextprotocol/go-sdk",
		},
	},
	"internal/proxy": {
		ours:   []string{".", "policy", "profile", "internal/ingest", "internal/fingerprint", "internal/ingest/codex", "internal/ingest/gemini", "internal/memory", "internal/nudge", "internal/price", "internal/reverseproxy"},
		others: []string{"github.com/go-json-experiment/json", "github.com/hashicorp/golang-lru/v2", "github.com/klauspost/compress", "github.com/prometheus/client_golang", "github.com/zeebo/xxh3"},
		tests:  []string{"guard", "internal/hook", "internal/ingest/openai", "internal/ingest/otlp"},
	},
	"internal/configedit": {others: []string{"github.com/pelletier/go-toml/v2", "github.com/tailscale/hujson"}},
	"internal/hook": {
		ours:   []string{".", "guard", "policy", "profile", "internal/ingest", "internal/ingest/gemini", "internal/mask", "internal/nudge", "internal/settings"},
		others: []string{"github.com/zeebo/xxh3", "golang.org/x/sys"},
		tests:  []string{"internal/ingest/labelled"},
	},
	"internal/mcpproxy/clients": {ours: []string{"internal/configedit"}},
	"internal/hook/atstart":     {ours: []string{"internal/config", "internal/hook"}},
	"internal/hook/install":     {ours: []string{"internal/configedit", "internal/hook"}},
	"internal/agents":           {},

	"internal/eval": {
		ours:   []string{".", "policy", "profile", "internal/ingest", "internal/ingest/labelled", "internal/snapshot"},
		others: []string{"github.com/go-json-experiment/json"},
		tests:  []string{"internal/eval/splice"},
	},
	"internal/eval/splice": {ours: []string{".", "internal/eval"}, others: []string{"github.com/go-json-experiment/json"}},
	"internal/eval/rewrite": {
		ours:   []string{".", "internal/eval"},
		others: []string{"github.com/go-json-experiment/json"},
		tests:  []string{"policy", "profile"},
	},
	"internal/eval/rewrite/table": {ours: []string{"internal/eval", "internal/eval/rewrite", "profile"}},

	"internal/scan": {
		ours: []string{
			".", "policy", "profile", "internal/ingest", "internal/ingest/anthropic", "internal/ingest/atif", "internal/ingest/autogen", "internal/ingest/claudecode", "internal/ingest/cline", "internal/ingest/codex", "internal/ingest/copilot", "internal/ingest/cursor", "internal/ingest/gemini", "internal/ingest/labelled", "internal/ingest/langfuse", "internal/ingest/langsmith", "internal/ingest/minisweagent", "internal/ingest/native", "internal/ingest/openai", "internal/ingest/openaiagents", "internal/ingest/opencode", "internal/ingest/openhands", "internal/ingest/otlp", "internal/ingest/sweagent", "internal/ingest/taubench", "internal/pipeline", "internal/report", "internal/watch",
		},
		others: []string{"github.com/go-json-experiment/json"},
		tests:  []string{"internal/client"},
	},
	"internal/cluster": {
		ours:   []string{".", "profile", "internal/ingest", "internal/pipeline", "internal/store", "internal/store/sqlstore", "internal/trace"},
		others: []string{"github.com/go-json-experiment/json", "github.com/nats-io/nats.go", "github.com/zeebo/xxh3", "golang.org/x/sync"},
		tests:  []string{"policy"},
	},
	"internal/app": {
		ours: []string{everything},
		others: []string{
			"github.com/prometheus/client_golang", "go.opentelemetry.io/collector/pdata", "golang.org/x/time",
		},
	},
	"internal/cli": {
		ours: []string{".", "detect", "guard", "guard/reporter", "policy", "profile", "internal/api", "internal/app", "internal/client", "internal/config", "internal/configedit", "internal/eval", "internal/eval/splice", "internal/guardio", "internal/hook", "internal/hook/atstart", "internal/hook/install", "internal/mcpd", "internal/mcplines", "internal/mcpproxy", "internal/mcpproxy/clients", "internal/settings", "internal/ingest", "internal/memory", "internal/proxy", "internal/report", "internal/reverseproxy", "internal/scan", "secondopinion"},
		others: []string{
			"github.com/modelcontextprotocol/go-sdk", "github.com/rogpeppe/go-internal", "github.com/schollz/progressbar/v3", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/crypto/x509roots/fallback", "golang.org/x/sync", "golang.org/x/term",
		},
		tests: []string{"internal/store"},
	},
	"internal/train": {ours: []string{".", "detect", "internal/eval", "policy", "profile"}},
	"compare/unloop": {ours: []string{".", "internal/eval", "policy", "profile"}},
	"cmd/unloop":     {ours: []string{"internal/cli"}},

	"internal/arch": {},
	"packaging":     {others: []string{"go.yaml.in/yaml/v3"}},
	"deploy": {others: []string{
		"github.com/compose-spec/compose-go/v2", "k8s.io/api", "sigs.k8s.io/kustomize/api", "sigs.k8s.io/kustomize/kyaml", "sigs.k8s.io/yaml",
	}},
}

// testHelpers are the packages that any test may import, and nothing but tests.
var testHelpers = []string{"detect/detecttest", "guard/guardtest", "internal/adaptertest", "internal/costtest", "internal/goldentest", "internal/ingest/ingesttest", "internal/natstest", "internal/nettest", "internal/redistest", "internal/snapshot/snapshottest", "internal/store/storetest", "internal/store/storetest/postgres", "internal/store/storetest/sqlite", "swarm/swarmtest"}

// forApplications are the packages that only applications import. The program links neither them nor their imports.
var forApplications = []string{"guard/pgstore", "guard/redisstore", "swarm/redisstore"}

// testLibraries are the modules of others that any test may import.
var testLibraries = []string{
	"github.com/anthropics/anthropic-sdk-go",
	"github.com/google/go-cmp",
	"github.com/nats-io/nats-server/v2",
	"github.com/nats-io/nats.go",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/openai/openai-go/v3",
	"github.com/prometheus/client_golang",
	"github.com/rogpeppe/go-internal",
	"github.com/santhosh-tekuri/jsonschema/v6",
	"go.opentelemetry.io/otel",
	"pgregory.net/rapid",
}

// rowOf returns the row of a folder. Its own row takes precedence over a pattern.
func rowOf(folder string) (importRow, bool) {
	if r, ok := importTable[folder]; ok {
		return r, true
	}
	r, ok := importTable[path.Dir(folder)+"/*"]
	return r, ok
}

// checkImports reports each import that the import table does not allow.
func checkImports(t *tree) (broken []string) {
	strangers := map[string]bool{}
	for _, s := range t.sources {
		r, ok := rowOf(s.folder)
		if !ok {
			if !strangers[s.folder] {
				broken = append(broken, fmt.Sprintf("%s is not in the import table: add a row with its imports to internal/arch/imports.go, "+
					"and a line to ARCHITECTURE.md", s.folder))
			}
			strangers[s.folder] = true
			continue
		}
		for _, spec := range s.syntax.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil || isStandard(imported) || r.allows(s, imported) {
				continue
			}
			broken = append(broken, fmt.Sprintf("%s: %s must not import %s: see its row in internal/arch/imports.go",
				t.at(spec), s.who(), imported))
		}
	}
	return broken
}

// who returns the name of the importer for a message.
func (s source) who() string {
	name := s.folder
	if name == "." {
		name = "the root"
	}
	if s.isTest() {
		return "a test of " + name
	}
	return name
}

// isStandard reports whether an import path belongs to the standard library: its first element has no dot.
func isStandard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

func (r importRow) allows(s source, imported string) bool {
	folder, ours := folderOf(imported)
	if !ours {
		return hasModule(r.others, imported) || s.isTest() && hasModule(testLibraries, imported)
	}
	if slices.Contains(r.ours, folder) {
		return true
	}
	helper := slices.Contains(testHelpers, folder)
	if s.isTest() {
		return helper || folder == s.folder || slices.Contains(r.tests, folder) || slices.Contains(r.ours, everything)
	}
	return !helper && !slices.Contains(forApplications, folder) && slices.Contains(r.ours, everything)
}

// folderOf returns the folder of a package of this module.
func folderOf(imported string) (string, bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// hasModule reports whether a package belongs to one of the modules.
func hasModule(modules []string, imported string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return imported == m || strings.HasPrefix(imported, m+"/")
	})
}
