package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
)

// Rows streams the rows of a CSV input below its header. It calls each with the header and the row, which have the same length and
// are valid until each returns. Only one row, of at most MaxLine bytes, is in memory at a time.
func (in *Input) Rows(each func(header, row []string) error) error {
	defer func() { in.line = 0 }()
	source := valueReader{r: in.r, limit: MaxLine}
	reader := csv.NewReader(&source)
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return in.Bad(1, "", "the header is missing")
	}
	if err != nil {
		return in.badRow(err)
	}
	reader.ReuseRecord = true
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return in.badRow(err)
		}
		source.value = source.read
		in.line, _ = reader.FieldPos(0)
		if err := each(header, row); err != nil {
			return err
		}
	}
}

// badRow distinguishes a failed read from invalid CSV.
func (in *Input) badRow(err error) error {
	var bad *csv.ParseError
	switch {
	case errors.Is(err, errLarge):
		return in.Bad(0, "", fmt.Sprintf("a row is larger than %d MiB", MaxLine>>20))
	case errors.As(err, &bad):
		return in.Bad(bad.Line, "", "not valid CSV: "+bad.Err.Error())
	}
	return in.readError(err)
}
