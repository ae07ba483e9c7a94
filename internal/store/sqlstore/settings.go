package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/unloop-ai/unloop/internal/store"
)

// Secret returns 32 random bytes, which are always the same for a name and a store.
func (s *Store) Secret(ctx context.Context, name string) (secret []byte, err error) {
	fresh := make([]byte, 32)
	rand.Read(fresh) // ends the program instead of returning an error
	name = "secret:" + store.Key(name)
	_, err = s.write.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING`, name, fresh)
	if err == nil {
		err = s.write.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = $1`, name).Scan(&secret)
	}
	if err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return secret, nil
}

// DropSecrets deletes the secrets whose names are from one name, inclusive, to another, exclusive. The names must have the same
// length and differ only in digits, so that all databases order them equally.
func (s *Store) DropSecrets(ctx context.Context, from, before string) error {
	_, err := s.write.ExecContext(ctx, `DELETE FROM settings WHERE name >= $1 AND name < $2`, "secret:"+store.Key(from), "secret:"+store.Key(before))
	if err != nil {
		return fmt.Errorf("delete secrets: %w", err)
	}
	return nil
}

// appliedSettings is the name of the row with the settings that people applied to all servers of a cluster.
const appliedSettings = "applied"

// Applied returns the settings that people applied to all servers of a cluster.
func (s *Store) Applied(ctx context.Context) ([]store.Setting, error) { return applied(ctx, s.read) }

func applied(ctx context.Context, from querier) (all []store.Setting, err error) {
	err = eachRow(ctx, from, `SELECT value FROM settings WHERE name = $1`, []any{appliedSettings}, func(row scanner) error {
		var text []byte
		if err := row.Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal(text, &all)
	})
	if err != nil {
		return nil, fmt.Errorf("read the applied settings: %w", err)
	}
	return all, nil
}

// applySetting adds a setting to the applied ones, in place of an earlier value. It does nothing for nil.
func applySetting(ctx context.Context, tx *sql.Tx, s *store.Setting) error {
	if s == nil {
		return nil
	}
	all, err := applied(ctx, tx)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(x store.Setting) bool { return x.Profile == s.Profile && x.Tool == s.Tool && x.Name == s.Name })
	text, err := json.Marshal(append(all, *s))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, appliedSettings, text)
	return err
}

// Ping checks that the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	if err := s.read.QueryRowContext(ctx, `SELECT 1`).Scan(&one); err != nil {
		return fmt.Errorf("ping the database: %w", err)
	}
	return nil
}

// Writable writes a setting durably, to check that the database is writable.
func (s *Store) Writable(ctx context.Context) error {
	if err := s.intact(); err != nil {
		return fmt.Errorf("test a write to the database: %w", err)
	}
	_, err := s.write.ExecContext(ctx, `INSERT INTO settings (name, value) VALUES ('writable', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value`, []byte(time.Now().UTC().Format(time.RFC3339Nano)))
	if err != nil {
		return fmt.Errorf("test a write to the database: %w", err)
	}
	return nil
}
