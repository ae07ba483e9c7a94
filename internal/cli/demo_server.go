package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/unloop-ai/unloop/internal/app"
	"github.com/unloop-ai/unloop/internal/config"
)

// ownServer starts a server on a free local port, with a temporary database that is deleted when the server stops.
func ownServer(ctx context.Context) (endpoint string, stop func() error, err error) {
	folder, err := os.MkdirTemp("", "unloop-demo-*")
	if err != nil {
		return "", nil, fmt.Errorf("create a folder for the database: %w", err)
	}
	c := config.Default()
	c.Addr, c.GRPCAddr, c.DB = "127.0.0.1:0", config.Off, filepath.Join(folder, "unloop.db")
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it outlives an interrupt, to take the ends of the runs
	ready, ended := make(chan app.Addresses, 1), make(chan error, 1)
	server := app.Serve{
		Config: c, Version: programVersion(), Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Ready: func(a app.Addresses) { ready <- a },
	}
	go func() { ended <- server.Run(ctx) }()
	stop = func() error {
		cancel()
		return errors.Join(<-ended, os.RemoveAll(folder))
	}
	select {
	case a := <-ready:
		return "http://" + a.HTTP, stop, nil
	case err := <-ended:
		cancel()
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
}
