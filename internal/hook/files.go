package hook

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// openRegular opens a regular file. Opening a named pipe would wait for a writer, and a device may have no end.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("not a regular file: %s", info.Mode().Type())}
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// readRegular reads a regular file of at most the given number of bytes. A process that runs out of memory would end with the status 2,
// which denies the call.
func readRegular(path string, most int64) ([]byte, error) {
	file, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // a file that is only read has no error to report
	info, err := file.Stat()
	if err == nil && info.Size() > most {
		err = fmt.Errorf("it has %d bytes, want at most %d", info.Size(), most)
	}
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	n, err := io.ReadFull(file, data)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil // it became shorter
	}
	return data[:n], err
}
