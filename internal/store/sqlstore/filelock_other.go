//go:build !linux

package sqlstore

import "os"

// lockByte does nothing: the lock file beside the database is all there is on systems without locks that belong to an open file.
func lockByte(*os.File) error { return nil }
