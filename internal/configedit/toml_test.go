package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRemovingAnAppendedTableRestoresTheFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		newline := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{
			"# a comment, [not.a.table]", "", "%s = 1 # one", "%s = \"\"\"\n[no.table]\n\"\"\"", "[%s]", "[[%s]]", "[a.\"b.%s\"]", "%s = { x = [1, 2,] }",
		}), 0, 8).Draw(t, "lines")
		for k := range lines {
			if strings.Contains(lines[k], "%s") {
				lines[k] = fmt.Sprintf(lines[k], fmt.Sprint("k", k))
			}
		}
		text := strings.ReplaceAll(strings.Join(append(lines, ""), "\n"), "\n", newline)
		text = rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "bom") + text
		table := strings.ReplaceAll("[mcp_servers.own]\ncommand = \"unloop\"\n\n[mcp_servers.own.env]\nA = \"1\"\n", "\n", newline)
		got, n, err := RemoveTOMLTables([]byte(text+table), func(key []string) bool { return len(key) > 1 && key[0] == "mcp_servers" && key[1] == "own" })
		if err != nil || n != 2 || !bytes.Equal(got, []byte(text)) {
			t.Fatalf("%q became %q (%d tables, %v)", text, got, n, err)
		}
	})
}

func TestInvalidTOMLIsRejectedWithThePlaceOfTheError(t *testing.T) {
	_, err := TOMLTables([]byte("a = 1\n[b\n"))
	var wrong *SyntaxError
	if !errors.As(err, &wrong) || wrong.Line != 2 {
		t.Errorf("got %v", err)
	}
}
