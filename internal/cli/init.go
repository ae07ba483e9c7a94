package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/unloop-ai/unloop/internal/config"
)

func initCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Write a configuration file with every setting, its default and its meaning",
		Long: "Init writes " + config.FileName + ", which unloop serve reads if it starts in the same folder. Init does not change an\n" +
			"existing file.",
		Example: "  unloop init\n  unloop init --dir /etc/unloop",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, check := filepath.Join(dir, config.FileName), "unloop config check"
			if path != config.FileName {
				check += " --config " + path
			}
			if err := writeNew(path); err != nil {
				return err
			}
			_, err := fmt.Fprintf(plainWriter{cmd.OutOrStdout()}, "Wrote %s. Edit it, then run: %s\n", path, check)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the `FOLDER` to write it to")
	return cmd
}

// writeNew writes the configuration to a new file. Only the user may read it, because it may contain secrets.
func writeNew(path string) error {
	text, err := config.File()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists and is not changed", path)
	}
	if err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write the configuration: %w", err), os.Remove(path))
	}
	return nil
}
