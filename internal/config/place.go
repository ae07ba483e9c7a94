package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Database returns DB, or else the default file in the user's state folder. It creates the folder if it does not exist. The
// default does not depend on the working folder, so a server finds its runs again.
func (c *Config) Database() (string, error) {
	if c.DB != "" {
		return c.DB, nil
	}
	folder, err := stateFolder(runtime.GOOS, os.Getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("create the folder of the database: %w", err)
	}
	return filepath.Join(folder, "unloop.db"), nil
}

// StateFolder returns the folder for unloop's state. It returns an error if the environment names no home folder.
func StateFolder() (string, error) {
	folder, err := stateFolder(runtime.GOOS, os.Getenv)
	if err != nil {
		return "", errors.New("no home folder for the state: set XDG_STATE_HOME")
	}
	return folder, nil
}

// stateFolder returns the folder for unloop's state.
func stateFolder(system string, env func(string) string) (string, error) {
	for _, place := range []struct{ system, variable, below string }{
		{"", "XDG_STATE_HOME", ""},
		{"windows", "LocalAppData", ""},
		{"darwin", "HOME", "Library/Application Support"},
		{"", "HOME", ".local/state"},
	} {
		folder := env(place.variable)
		if (place.system == "" || place.system == system) && filepath.IsAbs(folder) {
			return filepath.Join(folder, filepath.FromSlash(place.below), "unloop"), nil
		}
	}
	return "", errors.New("no home folder for the database: set a file with --db PATH")
}
