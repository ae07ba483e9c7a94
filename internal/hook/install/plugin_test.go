package install

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the files of the plugins anew")

// pluginVersion is that of the files in the repository. A release replaces it by its own.
const pluginVersion = "0.0.0"

func TestThePluginsInTheRepositoryRegisterWhatInstallDoes(t *testing.T) {
	files, err := Plugins(pluginVersion)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for name, want := range files {
		if !json.Valid(want) {
			t.Errorf("%s is no JSON", name)
		}
		path := filepath.Join("..", "..", "..", "plugins", name)
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s differs: run make golden (%v)", path, err)
		}
	}
}
