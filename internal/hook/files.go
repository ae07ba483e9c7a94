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
	if err := mustBeRegular(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// appendRegular opens a regular file to append to it. It creates the file if there is none.
func appendRegular(path string) (*os.File, error) {
	if err := regularOrMissing(path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
}

// writeRegular is os.WriteFile for a regular file, or a new one.
func writeRegular(path string, data []byte) error {
	if err := regularOrMissing(path); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func regularOrMissing(path string) error {
	if err := mustBeRegular(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func mustBeRegular(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("not a regular file: %s", info.Mode().Type())}
	}
	return err
}

// maxSmall is the maximum size of the files that have one value, in bytes.
const maxSmall = 64 << 10

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
