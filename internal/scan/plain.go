package scan

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// maxPlain is the maximum size of the content of a compressed input in bytes. A small file can decompress to any size.
const maxPlain = 16 << 30

// Plain returns a reader of the content of an input, which may be compressed with gzip. The name is for errors.
func Plain(name string, r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, headSize)
	head, err := in.Peek(len(gzipMagic))
	if string(head) != gzipMagic {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s: %w", name, plainReadError(err))
		}
		return in, nil
	}
	content, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: decompress: %w", name, plainReadError(err))
	}
	return bufio.NewReaderSize(&limitedReader{r: content, left: maxPlain}, headSize), nil
}

// limitedReader fails after a number of bytes.
type limitedReader struct {
	r    io.Reader
	left int64
}

var errTooLarge = fmt.Errorf("the content is larger than %d GiB; decompress the file first", maxPlain>>30)

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errTooLarge
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

const gzipMagic = "\x1f\x8b"

// containers are kinds of files that are no trace, but may contain one.
var containers = []struct{ magic, what, cure string }{
	{"\xff\xfe", "the text is UTF-16", "convert it with iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", "the text is UTF-16", "convert it with iconv -f UTF-16 -t UTF-8"},
	{gzipMagic, "the file is compressed with gzip", "decompress it with gunzip"},
	{"\x28\xb5\x2f\xfd", "the file is compressed with zstd", "decompress it with zstd -d"},
	{"\xfd7zXZ\x00", "the file is compressed with xz", "decompress it with xz -d"},
	{"BZh", "the file is compressed with bzip2", "decompress it with bzip2 -d"},
	{"PK\x03\x04", "the file is a zip archive", "unpack it, and name the folder"},
	{"SQLite format 3\x00", "the file is a SQLite database", "export its runs; for a database of unloop, use unloop serve --db and unloop export"},
	{"PAR1", "the file is in the format Parquet", "convert it to JSON Lines"},
}

// container returns what a file is that begins with head, and what to do about it; "" if that is unknown.
func container(head []byte) string {
	for _, c := range containers {
		if bytes.HasPrefix(head, []byte(c.magic)) {
			return c.what + ": " + c.cure
		}
	}
	return ""
}

// Describe returns what an input is that begins with the content of the reader: a trace in a format, or a file of another kind with what to
// do about it. It returns "" if that is unknown. It consumes nothing.
func Describe(content *bufio.Reader) (format, other string) {
	head, _ := content.Peek(headSize) // the next read returns an error again
	if f, known := sniff(head); known {
		return f.Name, ""
	}
	return "", container(head)
}
