package redisstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/unloop-ai/unloop/guard"
	"github.com/unloop-ai/unloop/guard/redisstore"
	"github.com/unloop-ai/unloop/profile"
)

// A replica behind a load balancer judges one call of a conversation, whichever replica judged the calls before it.
func Example() {
	p, err := profile.New(profile.Default)
	if err != nil {
		panic(err)
	}
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{"localhost:6379"}, AlwaysPipelining: true})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	store, err := redisstore.New(client, 24*time.Hour)
	if err != nil {
		panic(err)
	}
	g := guard.New(p, guard.Options{Run: "conversation-4711", Shared: &guard.Shared{
		Store: store, Project: "shop", Limits: guard.Usage{Calls: 5000, Cost: 20},
		OnError: func(err error) { fmt.Println("the guard judges without its store:", err) },
	}})
	defer g.Close()
	d := g.Before(context.Background(), guard.Call{Tool: "search", Args: []byte(`{"q":"order 4711"}`)})
	fmt.Println(d.Action)
}
