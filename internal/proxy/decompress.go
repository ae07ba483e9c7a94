package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/unloop-ai/unloop/internal/reverseproxy"
)

// maxWindow bounds what a zstd decoder allocates for the first byte of a body, whatever its size. Decoders must support 8 MiB.
const maxWindow = 8 << 20

// decompress returns the body of a request in the given encoding. Codex compresses with zstd when it is signed in with an account. A
// body that is larger than limit or than the memory of the lease, or in another encoding, is an error.
func decompress(body []byte, encoding string, limit int64, lease *reverseproxy.Lease) ([]byte, error) {
	var r io.Reader
	switch encoding {
	case "", "identity":
		return body, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("decompress the request: %w", err)
		}
		r = z
	case "zstd":
		z, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(limit)+1),
			zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, fmt.Errorf("decompress the request: %w", err)
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("unknown encoding %q of the request: want gzip or zstd", encoding)
	}
	data, err := reverseproxy.ReadUpTo(lease.Reader(r), limit)
	if err != nil {
		return nil, fmt.Errorf("decompress the request: %w", err)
	}
	return data, nil
}
