package sqlstore

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/unloop-ai/unloop/internal/store"
)

// lockedByte is after the end of any database, and therefore after the bytes that SQLite locks.
const lockedByte = 1 << 62

// lockByte locks a byte of the file until the file is closed. The lock belongs to the open file, so it also excludes stores in
// this process.
func lockByte(f *os.File) error {
	lock := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: lockedByte, Len: 1}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return store.ErrInUse
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return nil // the file system has no such locks, so only the lock file protects the database
	}
	return err
}
