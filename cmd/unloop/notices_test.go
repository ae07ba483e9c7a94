package main

import (
	"bytes"
	"os"
	"runtime/debug"
	"testing"
)

// This test is linked with the modules that unloop is linked with.
func TestEachLinkedModuleHasItsLicenceInTheNotices(t *testing.T) {
	notices, err := os.ReadFile("../../THIRD_PARTY_NOTICES.txt")
	if err != nil {
		t.Fatal(err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || len(info.Deps) < 10 {
		t.Fatalf("the program does not know its modules: %v", info)
	}
	for _, m := range info.Deps {
		if !bytes.Contains(notices, []byte("\n"+m.Path+" "+m.Version+"\n")) {
			t.Errorf("%s %s is not in THIRD_PARTY_NOTICES.txt: run make notices", m.Path, m.Version)
		}
	}
}
