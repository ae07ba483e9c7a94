package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/unloop-ai/unloop/internal/store"
)

// effectOnAlert adds, changes or deletes an alert. It sets the number of an alert that it adds.
func effectOnAlert(ctx context.Context, tx *sql.Tx, a *store.Act) error {
	settings, err := json.Marshal(a.Alert)
	if err != nil {
		return err
	}
	var result sql.Result
	switch a.Action {
	case store.ActAddAlert:
		a.Alert.Number = a.Number
		result, err = tx.ExecContext(ctx, `INSERT INTO alerts (act, settings) VALUES ($1, $2)`, a.Number, settings)
	case store.ActChangeAlert:
		result, err = tx.ExecContext(ctx, `UPDATE alerts SET settings = $2 WHERE act = $1`, a.Alert.Number, settings)
	default:
		result, err = tx.ExecContext(ctx, `DELETE FROM alerts WHERE act = $1`, a.Alert.Number)
	}
	if err != nil {
		return err
	}
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		return errors.Join(err, store.ErrNoAlert)
	}
	return nil
}

// Alerts returns the alerts that people set up, the first first.
func (s *Store) Alerts(ctx context.Context) (alerts []store.Alert, err error) {
	err = s.each(ctx, `SELECT act, settings FROM alerts ORDER BY act`, nil, func(row scanner) error {
		var number int64
		var settings []byte
		if err := row.Scan(&number, &settings); err != nil {
			return err
		}
		a := store.Alert{Number: number}
		err := json.Unmarshal(settings, &a)
		alerts = append(alerts, a)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the alerts: %w", err)
	}
	return alerts, nil
}
