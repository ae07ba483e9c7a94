//go:build unix

package hook

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile waits for the lock of a file. Closing the file, or the end of the process, releases it. The kernel serves waiting
// processes in order, which polling would not. After errBusy, the file may still get the lock, so the caller must close it or
// end.
func lockFile(f *os.File, patience time.Duration) error {
	fd := int(f.Fd())
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		return nil
	}
	locked := make(chan error, 1)
	go func() {
		for {
			if err := unix.Flock(fd, unix.LOCK_EX); !errors.Is(err, unix.EINTR) {
				locked <- err
				return
			}
		}
	}()
	select {
	case err := <-locked:
		return err
	case <-time.After(patience):
		return errBusy
	}
}
