package guard

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/unloop-ai/unloop/internal/snapshot"
)

// deflaters reuses writers. Each writer takes 1.2 MB.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err) // the level is valid
	}
	return w
}}

// compress compresses a snapshot for a store. It saves about a third of the size, because most of a snapshot is hashes.
func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&b)
	_, err := w.Write(data)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, fmt.Errorf("compress a snapshot: %w", err)
	}
	return b.Bytes(), nil
}

// decompress reads the output of compress. Data that is larger than any snapshot is an error.
func decompress(data []byte) ([]byte, error) {
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(data)), snapshot.MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("decompress a snapshot: %w", err)
	}
	if len(plain) > snapshot.MaxBytes {
		return nil, fmt.Errorf("decompress a snapshot: it has over %d bytes", snapshot.MaxBytes)
	}
	return plain, nil
}
