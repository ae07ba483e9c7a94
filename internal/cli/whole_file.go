package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeWhole writes a file that appears only when it is complete. It follows symbolic links, and keeps the mode of a file that it
// replaces. A device or a pipe, such as /dev/stdout, is not replaced but written.
func writeWhole(path string, write func(io.Writer) error) error {
	before, err := os.Stat(path)
	if err == nil && !before.Mode().IsRegular() {
		return writeInto(path, write)
	}
	target := path
	if err == nil {
		if target, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("write %s: %w", path, pathReason(err))
		}
	}
	f, err := os.CreateTemp(filepath.Dir(target), filepath.Base(target)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, pathReason(err))
	}
	if before != nil {
		err = f.Chmod(before.Mode().Perm())
	}
	err = errors.Join(err, write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// writeInto writes to what exists at the path.
func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, pathReason(err))
	}
	return errors.Join(write(f), f.Close())
}

// pathReason returns the reason of an error about a path, for a message that names another path.
func pathReason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
