package scan

import (
	"context"
	"io"
	"os"
)

// Open opens an input: a file, or - for stdin. Opening or reading anything but a regular file can block without end. Such an
// input is therefore read by a separate goroutine, and the returned reader fails when ctx is done. The goroutine ends when its
// blocked call returns.
func Open(ctx context.Context, path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return interruptible(ctx, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() || info.IsDir() {
		return os.Open(path)
	}
	return interruptible(ctx, func() (io.ReadCloser, error) { return os.Open(path) }), nil
}

// interruptible returns a reader of the opened input that fails when ctx is done.
func interruptible(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	out, in := io.Pipe()
	stop := context.AfterFunc(ctx, func() { _ = in.CloseWithError(&stopError{ctx.Err()}) }) // never fails
	go func() {
		defer stop()
		source, err := open()
		if err == nil {
			_, err = io.Copy(in, source)
			_ = source.Close() // a file that is only read has no error to report
		}
		_ = in.CloseWithError(err) // never fails
	}()
	return out
}

// regular reports whether the path is a regular file, which can be read again from its beginning.
func regular(path string) bool {
	info, err := os.Stat(path)
	return path != "-" && err == nil && info.Mode().IsRegular()
}
