package scan

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"syscall"
	"testing"
)

func TestAPipeWithoutAWriterIsAbandoned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	never, hold := io.Pipe()
	defer hold.Close()
	for _, from := range []string{path, "-"} {
		ctx, cancel := context.WithCancel(context.Background())
		in, err := Open(ctx, from, never)
		if err != nil {
			t.Fatal(err)
		}
		given := make(chan error)
		go func() {
			_, err := in.Read(make([]byte, 1))
			given <- err
		}()
		cancel()
		if err := <-given; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", from, err)
		}
	}
}
