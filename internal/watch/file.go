package watch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// headBytes is how much of a file's beginning is remembered, to see that it is another one.
const headBytes = 256

// settled is how long a file must have been left alone to be read as a whole.
const settled = 2 * time.Second

// File is a file that is read while it may grow.
type File struct {
	Path string // where it was when it was opened

	ctx    context.Context
	file   *os.File
	opened os.FileInfo
	idle   time.Duration
	toEnd  atomic.Bool // its end is the end of the reading
	offset atomic.Int64
	whole  time.Time // when it was settled; zero for not

	cut    atomic.Bool // what was read is not there any more
	over   chan struct{}
	finish func() // closes over: nothing follows what is there
	wake   chan struct{}

	// Of the watcher.
	head  []byte
	info  os.FileInfo // when it was checked last
	grown time.Time
}

// open opens a regular file. It returns nil without an error for what is not, or no more.
func open(path string) (*File, error) {
	// Without waiting, for what is opened may have become a pipe that nobody writes to.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, f.Close())
	}
	opened := &File{
		Path: path, file: f, opened: info, info: info, grown: time.Now(), over: make(chan struct{}), wake: make(chan struct{}, 1),
	}
	opened.finish = sync.OnceFunc(func() { close(opened.over) })
	if opened.head, err = opened.Head(headBytes); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return opened, nil
}

// Head returns the first bytes that there are now, at most so many, and reads nothing.
func (f *File) Head(most int) ([]byte, error) {
	head := make([]byte, most)
	n, err := f.file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// Settle waits until the file has been left alone for two seconds, and makes its end, as it is then, the end of the reading: for a
// file that is read as a whole.
func (f *File) Settle() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	quiet := time.Since(info.ModTime()) > settled
	for !quiet && !f.toEnd.Load() && !f.isOver() {
		timer := time.NewTimer(settled)
		select {
		case <-f.ctx.Done():
			timer.Stop()
			return f.ctx.Err()
		case <-f.over:
			timer.Stop()
		case <-timer.C:
		}
		now, err := f.file.Stat()
		if err != nil {
			return err
		}
		quiet, info = unchanged(info, now), now
	}
	f.toEnd.Store(true)
	f.whole = time.Now()
	return nil
}

// Read reads on. At the end of the file it waits until there is more. It returns io.EOF when no more will come: the file was
// deleted or replaced, or cut to nothing, or has been idle for long, or was settled.
func (f *File) Read(p []byte) (int, error) {
	for {
		over := f.isOver() // before reading: what was written until then is read
		if f.cut.Load() {
			return 0, io.EOF
		}
		n, err := f.file.Read(p)
		if n > 0 {
			f.offset.Add(int64(n))
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if over || f.toEnd.Load() || len(p) == 0 {
			return 0, io.EOF
		}
		select {
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-f.over:
		case <-f.wake:
		}
	}
}

// check compares the file with what was found. It is called by the watcher.
func (f *File) check(found os.FileInfo) {
	if unchanged(f.info, found) {
		if time.Since(f.grown) > f.idle {
			f.finish()
		}
		return
	}
	f.info, f.grown = found, time.Now()
	if f.offset.Load() == 0 {
		f.head = nil // nothing was read of what was there
	}
	if found.Size() < f.offset.Load() || !f.same() {
		f.cut.Store(true)
		f.finish()
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // it is awake
	}
}

// same reports whether the file begins as it did. A log that was copied away and cut may have grown beyond where it was.
func (f *File) same() bool {
	head, err := f.Head(headBytes)
	if err != nil || !bytes.HasPrefix(head, f.head) {
		return false
	}
	f.head = head
	return true
}

// old reports whether the file has not been written to for so long that nobody waits for more.
func (f *File) old() bool { return time.Since(f.opened.ModTime()) > f.idle }

func (f *File) isOver() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// readToEnd returns the file's state where all of it has been read, else nil.
func (f *File) readToEnd() os.FileInfo {
	info, err := f.file.Stat()
	if err != nil || info.Size() != f.offset.Load() {
		return nil
	}
	return info
}
