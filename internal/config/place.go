package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Database returns what DB says, or else the file in the folder where the user's programs keep their state, which is made
// if it is missing: then it does not matter in which folder a server is started, its runs are there again.
func (c *Config) Database() (string, error) {
	if c.DB != "" {
		return c.DB, nil
	}
	folder, err := stateFolder(runtime.GOOS, os.Getenv)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder for the database: %w", err)
	}
	return filepath.Join(folder, "unloop.db"), nil
}

// StateFolder returns unloop's folder for what is to last and nobody edits. The error says that the environment names no home.
func StateFolder() (string, error) {
	folder, err := stateFolder(runtime.GOOS, os.Getenv)
	if err != nil {
		return "", errors.New("no home folder for the state: set XDG_STATE_HOME")
	}
	return folder, nil
}

// stateFolder returns unloop's folder for what is to last and nobody edits.
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
