package sqlstore_test

import (
	"strings"
	"testing"

	"github.com/unloop-ai/unloop/internal/store/sqlstore"
	"github.com/unloop-ai/unloop/internal/store/storetest/postgres"
)

func TestStatementsAndConnectionsHaveLimits(t *testing.T) {
	for _, c := range []struct {
		says, parameters string
		write, read      string
		readers          int
	}{
		{"without parameters", "", "1min", "30s", 8},
		{"the URL sets them", "&statement_timeout=7000&pool_max_conns=3", "7s", "7s", 2},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := open(t, postgres.Database(t)+c.parameters)
			check := func(when string) {
				write, read, readers, err := s.Limits(t.Context())
				if write != c.write || read != c.read || readers != c.readers || err != nil {
					t.Errorf("%s: the limits are %s and %s with %d connections, error %v; want %s, %s and %d", when, write, read, readers, err, c.write, c.read, c.readers)
				}
			}
			check("after the migrations")
			if err := s.Reclaim(t.Context()); err != nil {
				t.Fatal(err)
			}
			check("after space was reclaimed")
		})
	}
	for _, size := range []string{"1", "many", "1001"} {
		t.Run(size+" connections are rejected", func(t *testing.T) {
			_, err := sqlstore.Open(t.Context(), "postgres://localhost/x?pool_max_conns="+size, sqlstore.Options{})
			if err == nil || !strings.Contains(err.Error(), `pool_max_conns="`+size+`" in the URL of the database: want a number from 2 to 1000`) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
