package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// migrations create and change the tables, in the SQL of SQLite. A file that ends in .sqlite.sql or .postgres.sql is for that database
// only, and is not translated. A released file is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migrate updates the tables to the current version. It fails if a newer program has updated them further.
func (s *Store) migrate(ctx context.Context) error {
	p, err := s.migrations()
	if err != nil {
		return fmt.Errorf("prepare the migrations: %w", err)
	}
	have, known, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	if have > known {
		return fmt.Errorf("the tables have version %d of a newer unloop; this one supports versions up to %d", have, known)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the tables from version %d to %d: %w", have, known, err)
	}
	return nil
}

func (s *Store) migrations() (*goose.Provider, error) {
	steps, err := s.steps()
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(s.dialect, s.write, nil,
		goose.WithGoMigrations(steps...), goose.WithDisableGlobalRegistry(true), goose.WithLogger(goose.NopLogger()))
}

// steps returns the migrations in the SQL of the database.
func (s *Store) steps() (steps []*goose.Migration, err error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list the migrations: %w", err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, s.otherMigrations) {
			continue
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", name, err)
		}
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("number of migration %s: %w", name, err)
		}
		script := s.unlimited + s.words.Replace(string(text))
		steps = append(steps, goose.NewGoMigration(version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, script)
			return err
		}}, nil))
	}
	return steps, nil
}
