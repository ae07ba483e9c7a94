//go:build unix

package hook

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var errBusy = errors.New("other hooks of the session hold the lock")

// lockFile waits for the lock of a file. Closing the file, or the end of the process, releases it.
func lockFile(f *os.File, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			return err
		case time.Now().After(deadline):
			return errBusy
		}
		time.Sleep(pause)
	}
}
