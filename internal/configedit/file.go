package configedit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxFile is the maximum size of a configuration file in bytes.
const maxFile = 8 << 20

// File is a configuration file with its content.
type File struct {
	Path   string // as given
	Target string // the target of a symbolic link, else Path
	Data   []byte // nil if it does not exist
	Exists bool
	mode   fs.FileMode
}

// ReadFile reads a file. A missing file is empty.
func ReadFile(path string) (*File, error) {
	f := &File{Path: path, Target: path, mode: 0o600}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if link, err := os.Readlink(path); err == nil { // it leads to a missing file
			if !filepath.IsAbs(link) {
				link = filepath.Join(filepath.Dir(path), link)
			}
			f.Target = link
		}
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	info, err := os.Stat(target)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fmt.Errorf("read %s: want a regular file of at most %d bytes", path, maxFile)
	}
	if f.Data, err = os.ReadFile(target); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	f.Target, f.Exists, f.mode = target, true, info.Mode().Perm()
	return f, nil
}

// RunWhenNew makes a file that does not exist yet a program that its owner can run.
func (f *File) RunWhenNew() {
	if !f.Exists {
		f.mode = 0o700
	}
}

// errChanged means that another program changed the file after it was read.
var errChanged = errors.New("another program has changed the file in the meantime")

// Write replaces the content of the file atomically. It keeps the mode and symbolic links. If the file has changed since it was
// read, it is not written.
func (f *File) Write(data []byte) error {
	now, err := ReadFile(f.Path)
	if err != nil {
		return err
	}
	if now.Exists != f.Exists || !bytes.Equal(now.Data, f.Data) {
		return fmt.Errorf("write %s: %w", f.Path, errChanged)
	}
	if err := os.MkdirAll(filepath.Dir(f.Target), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	next, err := os.CreateTemp(filepath.Dir(f.Target), "."+filepath.Base(f.Target)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Path, err)
	}
	_, err = next.Write(data)
	err = errors.Join(err, next.Chmod(f.mode), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), f.Target)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", f.Path, err), os.Remove(next.Name()))
	}
	f.Data, f.Exists = bytes.Clone(data), true
	return nil
}
