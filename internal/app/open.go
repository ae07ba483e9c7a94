package app

import (
	"context"
	"io"
	"os"
)

// Open opens an input: a file, or - for stdin. Whatever is no regular file may make a reader wait without end, to be opened
// or to be read, which nothing breaks off; so it is read by a goroutine of its own, and its reader gives up when ctx is done.
// The goroutine then outlives it until there is something to read, or until the program ends.
func Open(ctx context.Context, path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return breakable(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() || info.IsDir() {
		return os.Open(path)
	}
	return breakable(ctx, func() (io.ReadCloser, error) { return os.Open(path) }), nil
}

// breakable reads what open opens until ctx is done.
func breakable(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = out.CloseWithError(&stopError{ctx.Err()}) }) // never fails
	go func() {
		defer stop()
		source, err := open()
		if err == nil {
			_, err = io.Copy(in, source)
			_ = source.Close() // only read
		}
		_ = in.CloseWithError(err) // never fails
	}()
	return out
}

// regular reports whether a path can be read again from its beginning.
func regular(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && info.Mode().IsRegular()
}
