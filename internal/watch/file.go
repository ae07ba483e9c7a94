package watch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// headBytes is the number of bytes that are remembered of the beginning of a file, and of the end of what was read, to detect that the
// file was replaced.
const headBytes = 256

// quietTime is the time without changes after which a file can be read as a whole.
const quietTime = 2 * time.Second

// File is a file that may grow while it is read.
type File struct {
	Path string // its path when it was opened

	ctx    context.Context
	file   *os.File
	opened os.FileInfo
	idle   time.Duration
	toEnd  atomic.Bool // reading ends at the current end
	offset atomic.Int64
	latest atomic.Pointer[part] // the end of what was read
	whole  time.Time            // time at which the file was complete; zero if it is not

	cut    atomic.Bool // the file was truncated below what was read
	over   chan struct{}
	finish func() // closes over: no more data follows
	wake   chan struct{}

	// Fields of the watcher.
	head   []byte
	info   os.FileInfo // of the last check
	grown  time.Time
	missed int64 // bytes of the last check that were not read before the file was truncated
}

// part is a part of a file at a position.
type part struct {
	bytes []byte
	at    int64
}

// open opens a regular file. It returns nil without an error for another kind of file, or if there is none.
func open(path string) (*File, error) {
	// Non-blocking, because the path may now be a pipe without a writer.
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

// Head returns the current first bytes, at most most, without reading on.
func (f *File) Head(most int) ([]byte, error) {
	head := make([]byte, most)
	n, err := f.file.ReadAt(head, 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return head[:n], err
}

// WaitQuiet waits until the file has not changed for two seconds. Reading then ends at the current end. It is for files that are
// read as a whole.
func (f *File) WaitQuiet() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	quiet := time.Since(info.ModTime()) > quietTime
	for !quiet && !f.toEnd.Load() && !f.isOver() {
		timer := time.NewTimer(quietTime)
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

// Read reads on. At the end of the file it waits for more. It returns io.EOF if no more will come: the file was deleted,
// replaced, truncated to nothing, idle for too long, or WaitQuiet was called.
func (f *File) Read(p []byte) (int, error) {
	for {
		over := f.isOver() // before reading, so that everything written until then is read
		if f.cut.Load() {
			return 0, io.EOF
		}
		n, err := f.file.Read(p)
		if n > 0 {
			end := p[max(0, n-headBytes):n]
			f.latest.Store(&part{bytes.Clone(end), f.offset.Add(int64(n)) - int64(len(end))})
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

// check compares the file with its current state on disk. The watcher calls it.
func (f *File) check(found os.FileInfo) {
	if unchanged(f.info, found) {
		if time.Since(f.grown) > f.idle {
			f.finish()
		}
		return
	}
	before := f.info.Size()
	f.info, f.grown = found, time.Now()
	if f.offset.Load() == 0 {
		f.head = nil // nothing of the new content was read
	}
	if read := f.offset.Load(); found.Size() < read || !f.same() {
		f.missed = max(before-read, 0)
		f.cut.Store(true)
		f.finish()
		return
	}
	select {
	case f.wake <- struct{}{}:
	default: // the file has grown
	}
}

// lost returns the error that text of a growing file may not have been read, because the file was truncated or written anew. What was written
// between the last check and the truncation leaves no trace. It returns nil for a file that is read as a whole.
func (f *File) lost() error {
	switch {
	case !f.cut.Load() || f.toEnd.Load():
		return nil
	case f.missed > 0:
		return fmt.Errorf("the file was truncated before %d bytes of it were read", f.missed)
	}
	return errors.New("the file was truncated or written anew; lines that were written just before may be missing (a log that is renamed loses none)")
}

// same reports whether the beginning of the file and the end of what was read are unchanged. A log that was copied and truncated may
// have grown beyond the old position, and may begin as before.
func (f *File) same() bool {
	head, err := f.Head(headBytes)
	if err != nil || !bytes.HasPrefix(head, f.head) {
		return false
	}
	f.head = head
	latest := f.latest.Load()
	if latest == nil {
		return true
	}
	found := make([]byte, len(latest.bytes))
	n, _ := f.file.ReadAt(found, latest.at) // less if the file has become shorter in the meantime
	return bytes.Equal(found[:n], latest.bytes)
}

// old reports whether the last change is longer ago than the idle time.
func (f *File) old() bool { return time.Since(f.opened.ModTime()) > f.idle }

func (f *File) isOver() bool {
	select {
	case <-f.over:
		return true
	default:
		return false
	}
}

// readToEnd returns the state of the file if all of it was read, else nil.
func (f *File) readToEnd() os.FileInfo {
	info, err := f.file.Stat()
	if err != nil || info.Size() != f.offset.Load() {
		return nil
	}
	return info
}
