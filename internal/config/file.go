package config

import (
	"fmt"
	"io"
	"os"
)

// FileKind is a kind of file that a flag or a setting names, and that is read as a whole.
type FileKind struct {
	Name string // for errors, such as "the baseline"
	Max  Size   // a larger file is an error, and it is not read further
	Want string // what such a file is, and how to get one
}

// The kinds of files. A generous limit keeps a wrong name, such as that of a device, from using all memory.
var (
	ServerFile  = FileKind{"the configuration", 1 << 20, "a YAML file with settings, as unloop init writes it"}
	ProfileFile = FileKind{"the config", 1 << 20, "a YAML file with a profile and its settings, as unloop profile show prints it"}
	PriceFile   = FileKind{"the prices", 16 << 20, "a YAML file with a line for each model, such as my-model: {input: 1, output: 2}"}
)

// Read reads a file of the kind. It reads no more than Max bytes.
func (k FileKind) Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k.Name, err)
	}
	defer f.Close() // a file that is only read has no error to report
	data, err := io.ReadAll(io.LimitReader(f, int64(k.Max)+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", k.Name, err)
	}
	if len(data) > int(k.Max) {
		return nil, fmt.Errorf("read %s: %s is larger than %v; want %s", k.Name, path, k.Max, k.Want)
	}
	return data, nil
}
