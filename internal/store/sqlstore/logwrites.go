package sqlstore

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite writes each page of a transaction to its write-ahead log by two system calls, one for a header and one for the page. The VFS of
// this file joins adjacent writes to the log into larger ones. In all else it is the VFS of the system. Joined bytes are in the file before
// any other operation on it, such as its sync at the end of a transaction. Other connections read a page of the log only after this sync.

// joinedBytes is the maximum size of a joined write.
const joinedBytes = 64 << 10

// joiningVFS is the VFS, in memory of SQLite.
type joiningVFS struct {
	vfs    sqlite3.Tsqlite3_vfs
	open   uintptr // of the system
	behind uintptr // where the logFile begins in a file of this VFS
}

// logFile is what this VFS keeps behind the file of the system. The file's methods are those of logFile, so its address is theirs.
type logFile struct {
	methods sqlite3.Tsqlite3_io_methods // those of the system; some are replaced
	system  *sqlite3.Tsqlite3_io_methods
	bytes   uintptr // joinedBytes of memory
	pending int32   // number of these bytes that are not in the file yet
	offset  int64   // of the first of them in the file
}

type (
	openFunc  = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, opened uintptr) int32
	readFunc  = func(tls *libc.TLS, file, bytes uintptr, n int32, offset int64) int32 // and to write
	sizeFunc  = func(tls *libc.TLS, file uintptr, size int64) int32
	askFunc   = func(tls *libc.TLS, file, size uintptr) int32
	syncFunc  = func(tls *libc.TLS, file uintptr, flags int32) int32
	closeFunc = func(tls *libc.TLS, file uintptr) int32
)

// registerJoiningVFS registers the VFS, which SQLite keeps until the process ends, and returns its name.
var registerJoiningVFS = sync.OnceValues(func() (name string, err error) {
	const own = "joining"
	tls := libc.NewTLS()
	defer tls.Close()
	system, copied := sqlite3.Xsqlite3_vfs_find(tls, 0), sqlite3.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(joiningVFS{})))
	if system == 0 || copied == 0 {
		return "", errors.New("copy the VFS of the system: no memory")
	}
	j := at[joiningVFS](copied)
	j.vfs = *at[sqlite3.Tsqlite3_vfs](system)
	j.open, j.behind = j.vfs.FxOpen, uintptr(j.vfs.FszOsFile+7)&^7
	j.vfs.FxOpen, j.vfs.FszOsFile = address(openLog), int32(j.behind+unsafe.Sizeof(logFile{}))
	if j.vfs.FzName, err = libc.CString(own); err != nil {
		return "", fmt.Errorf("name a VFS: %w", err)
	}
	if code := sqlite3.Xsqlite3_vfs_register(tls, copied, 0); code != sqlite3.SQLITE_OK {
		return "", fmt.Errorf("register a VFS: code %d of SQLite", code)
	}
	return own, nil
})

// openLog opens a file, and replaces methods if it is a write-ahead log.
func openLog(tls *libc.TLS, vfs, name, file uintptr, flags int32, opened uintptr) int32 {
	j := at[joiningVFS](vfs)
	if code := (*function[openFunc](j.open))(tls, vfs, name, file, flags, opened); code != sqlite3.SQLITE_OK || flags&sqlite3.SQLITE_OPEN_WAL == 0 {
		return code
	}
	methods := &at[sqlite3.Tsqlite3_file](file).FpMethods
	bytes := sqlite3.Xsqlite3_malloc(tls, joinedBytes)
	if bytes == 0 {
		return sqlite3.SQLITE_OK // it works without joining
	}
	f := at[logFile](file + j.behind)
	*f = logFile{system: at[sqlite3.Tsqlite3_io_methods](*methods), bytes: bytes}
	f.methods = *f.system
	f.methods.FxWrite, f.methods.FxRead, f.methods.FxTruncate = address(writeLog), address(readLog), address(truncateLog)
	f.methods.FxFileSize, f.methods.FxSync, f.methods.FxClose = address(sizeOfLog), address(syncLog), address(closeLog)
	*methods = file + j.behind
	return sqlite3.SQLITE_OK
}

func writeLog(tls *libc.TLS, file, bytes uintptr, n int32, offset int64) int32 {
	f := logOf(file)
	if f.pending > 0 && (offset != f.offset+int64(f.pending) || f.pending+n > joinedBytes) {
		if code := f.flush(tls, file); code != sqlite3.SQLITE_OK {
			return code
		}
	}
	if n > joinedBytes {
		return (*function[readFunc](f.system.FxWrite))(tls, file, bytes, n, offset)
	}
	if f.pending == 0 {
		f.offset = offset
	}
	copy(unsafe.Slice(at[byte](f.bytes+uintptr(f.pending)), n), unsafe.Slice(at[byte](bytes), n))
	f.pending += n
	return sqlite3.SQLITE_OK
}

// flush writes the pending bytes. After an error they are lost, as with a write that fails.
func (f *logFile) flush(tls *libc.TLS, file uintptr) int32 {
	if f.pending == 0 {
		return sqlite3.SQLITE_OK
	}
	n := f.pending
	f.pending = 0
	return (*function[readFunc](f.system.FxWrite))(tls, file, f.bytes, n, f.offset)
}

func readLog(tls *libc.TLS, file, bytes uintptr, n int32, offset int64) int32 {
	f := logOf(file)
	if code := f.flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return (*function[readFunc](f.system.FxRead))(tls, file, bytes, n, offset)
}

func truncateLog(tls *libc.TLS, file uintptr, size int64) int32 {
	f := logOf(file)
	if code := f.flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return (*function[sizeFunc](f.system.FxTruncate))(tls, file, size)
}

func sizeOfLog(tls *libc.TLS, file, size uintptr) int32 {
	f := logOf(file)
	if code := f.flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return (*function[askFunc](f.system.FxFileSize))(tls, file, size)
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	f := logOf(file)
	if code := f.flush(tls, file); code != sqlite3.SQLITE_OK {
		return code
	}
	return (*function[syncFunc](f.system.FxSync))(tls, file, flags)
}

func closeLog(tls *libc.TLS, file uintptr) int32 {
	f := logOf(file)
	flushed := f.flush(tls, file)
	sqlite3.Xsqlite3_free(tls, f.bytes)
	closed := (*function[closeFunc](f.system.FxClose))(tls, file)
	if flushed != sqlite3.SQLITE_OK {
		return flushed
	}
	return closed
}

// logOf returns the logFile of a file with its methods.
func logOf(file uintptr) *logFile { return at[logFile](at[sqlite3.Tsqlite3_file](file).FpMethods) }

// at returns the value at an address in memory of SQLite, which Go does not move or free.
func at[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// address returns a function of this package, which has no captured variables, as SQLite calls it.
func address[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// function returns the function at an address.
func function[T any](address uintptr) *T {
	return (*T)(unsafe.Pointer(&struct{ uintptr }{address}))
}
