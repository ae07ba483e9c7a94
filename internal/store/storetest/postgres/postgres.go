// Package postgres gives tests a real PostgreSQL: the server whose address is in UNLOOP_TEST_POSTGRES, as under make test, or one
// that scripts/with-postgres starts for the test program. Without PostgreSQL the tests fail.
package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// variable is the environment variable with the address of the server.
const variable = "UNLOOP_TEST_POSTGRES"

// Main runs the tests of a package and returns the exit code. Without a server, it starts one and runs the test program again
// with the same arguments. Call it as os.Exit(postgres.Main(m)) in TestMain.
func Main(m *testing.M) int {
	if os.Getenv(variable) != "" {
		return m.Run()
	}
	script, err := script()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	tests := exec.Command(script, os.Args...)
	tests.Stdin, tests.Stdout, tests.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = tests.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "run the tests beside PostgreSQL:", err)
		return 1
	}
	return 0
}

// script returns the path of scripts/with-postgres, which it searches from the working folder upwards.
func script() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find scripts/with-postgres: %w", err)
	}
	for {
		path := filepath.Join(folder, "scripts", "with-postgres")
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		above := filepath.Dir(folder)
		if above == folder {
			return "", errors.New("find scripts/with-postgres: no folder above the tests has it")
		}
		folder = above
	}
}

// Database creates an empty schema, which is dropped at the end of the test, and returns the URL of the schema.
func Database(t testing.TB) string {
	t.Helper()
	server := os.Getenv(variable)
	if server == "" {
		t.Fatalf("%s is empty: does the package's TestMain call postgres.Main?", variable)
	}
	address, err := url.Parse(server)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	name := "test_" + strings.ToLower(rand.Text())
	Exec(t, server, "CREATE SCHEMA "+name)
	t.Cleanup(func() { Exec(t, server, "DROP SCHEMA "+name+" CASCADE") })
	query := address.Query()
	query.Set("options", "-csearch_path="+name)
	address.RawQuery = query.Encode()
	return address.String()
}

// Exec runs a statement on its own connection. It has its own context, because the context of the test is done during cleanup.
func Exec(t testing.TB, server, statement string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the tests' PostgreSQL: %v", err)
	}
	_, err = conn.Exec(ctx, statement)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// Value reads the value of a query into to, on its own connection.
func Value(t testing.TB, server, query string, to any) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatalf("connect to the tests' PostgreSQL: %v", err)
	}
	err = conn.QueryRow(ctx, query).Scan(to)
	if err := errors.Join(err, conn.Close(ctx)); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// Left waits until the connections of an application are gone. What they did is in PostgreSQL's statistics then.
func Left(t testing.TB, server, application string) {
	t.Helper()
	for begin := time.Now(); ; {
		var connections int
		Value(t, server, `SELECT COUNT(*) FROM pg_stat_activity WHERE application_name = '`+application+`'`, &connections)
		if connections == 0 {
			return
		}
		if time.Since(begin) > 30*time.Second {
			t.Fatalf("%d connections of %s do not end", connections, application)
		}
	}
}

// Disconnect terminates the connection with which a server writes to a database. That connection holds the lock.
func Disconnect(t testing.TB, dsn string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	ended, err := conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
		WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
		AND objid = (hashtext(current_schema())::bigint & 4294967295)::oid`)
	if err := errors.Join(err, conn.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	if ended.RowsAffected() != 1 {
		t.Fatalf("%d connections have the lock", ended.RowsAffected())
	}
}

// Lock locks a table, so that every statement that uses it waits. Unlock ends that.
func Lock(t testing.TB, server, table string) (unlock func()) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, server)
	if err == nil {
		_, err = conn.Exec(ctx, "BEGIN; LOCK TABLE "+table+" IN ACCESS EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatalf("lock table %s: %v", table, err)
	}
	unlock = sync.OnceFunc(func() {
		if err := conn.Close(ctx); err != nil {
			t.Errorf("unlock table %s: %v", table, err)
		}
	})
	t.Cleanup(unlock)
	return unlock
}
