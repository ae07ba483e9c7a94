package hook

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lockFile waits for the lock of a file. Closing the file, or the end of the process, releases it.
func lockFile(f *os.File, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 16*time.Millisecond) {
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, windows.ERROR_LOCK_VIOLATION):
			return err
		case time.Now().After(deadline):
			return errBusy
		}
		time.Sleep(pause)
	}
}
