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
		Short: "Write a configuration to begin with: every setting, its value as it stands, and what it is for",
		Long: "Init writes " + config.FileName + ", which unloop serve reads when it is started in the same folder. A file that is\n" +
			"there already is left alone.",
		Example: "  unloop init\n  unloop init --dir /etc/unloop",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := filepath.Join(dir, config.FileName)
			if err := writeNew(path); err != nil {
				return err
			}
			_, err := fmt.Fprintf(plainWriter{cmd.OutOrStdout()}, "%s is written. Change what you like, then: unloop config check\n", path)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", ".", "the `FOLDER` to write it to")
	return cmd
}

// writeNew writes the configuration to a file that is not there yet. Only the user may read it, for secrets may come in.
func writeNew(path string) error {
	text, err := config.File()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already, and is left as it is", path)
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
