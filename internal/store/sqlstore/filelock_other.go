//go:build !linux

package sqlstore

import "os"

// lockByte does nothing on systems without locks of open files. There, only the lock file protects the database.
func lockByte(*os.File) error { return nil }
