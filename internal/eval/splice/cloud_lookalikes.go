package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that operate clouds and databases, and read data.

func cloudLookalikes() []kind {
	return []kind{
		{name: "canary_steps", build: canarySteps},
		{name: "load_ramped_up", build: loadRampedUp},
		{name: "partitions_vacuumed", build: partitionsVacuumed},
		{name: "blocks_synced", build: blocksSynced},
		{name: "waits_doubled", build: waitsDoubled},
		{name: "links_checked", build: linksChecked},
		{name: "rates_by_currency", build: ratesByCurrency},
		{name: "seeds_simulated", build: seedsSimulated},
		{name: "throttled_pages", build: throttledPages},
	}
}

// canarySteps shifts traffic step by step, and the checks pass after each.
func canarySteps(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	for _, weight := range []int{5, 10, 25, 50, 75, 100}[p.IntN(2):] {
		entries = append(entries,
			h.shell("kubectl argo rollouts promote "+name, "rollout '"+name+"' promoted", 0),
			h.shell("kubectl argo rollouts get rollout "+name+" | grep -E 'Status|Weight'", fmt.Sprintf("Status:          ॥ Paused\n  SetWeight:     %d\n  ActualWeight:  %d", weight, weight), 0),
			h.shell("promtool query instant http://prometheus:9090 'sum(rate(http_requests_total{code=~\"5..\",app=\""+name+"\"}[5m]))'", fmt.Sprintf("{} => 0 @[%d.%03d]", 1_790_000_000+60*weight, p.IntN(1000)), 0))
	}
	return entries, 0
}

// loadRampedUp measures a service under more and more users.
func loadRampedUp(p *generator) (entries []entry, _ int) {
	h, users, latency := p.harness(), 10, p.between(8, 20)
	for range p.between(5, 7) {
		entries = append(entries, h.shell(fmt.Sprintf("k6 run --vus %d --duration 30s load.js", users), fmt.Sprintf("     checks.........................: 100.00%% ✓ %d ✗ 0\n     http_req_duration..............: avg=%d.%02dms p(95)=%d.%02dms\n     http_req_failed................: 0.00%%  ✓ 0 ✗ %d\n     vus............................: %d", users*300, latency, p.IntN(100), 2*latency, p.IntN(100), users*300, users), 0))
		users, latency = 2*users, latency+latency/3
	}
	return entries, 0
}

// partitionsVacuumed vacuums partition after partition, and the database says the same to each.
func partitionsVacuumed(p *generator) (entries []entry, _ int) {
	table, tool := p.word(), p.pick("execute_sql", "postgres_query", "run_sql")
	for month := range p.between(6, 11) {
		entries = append(entries, call(tool, object("sql", fmt.Sprintf("VACUUM (ANALYZE) %s_2026_%02d", table, month+1)), quoted("VACUUM")))
	}
	return entries, 0
}

// blocksSynced looks at a node once a minute; its height rises, and its peers come and go.
func blocksSynced(p *generator) (entries []entry, _ int) {
	h, height := p.harness(), p.between(18_000_000, 19_000_000)
	head := height + p.between(9000, 20_000)
	for range p.between(6, 9) {
		entries = append(entries, h.shell("sleep 60; geth attach --exec 'JSON.stringify([eth.syncing.currentBlock, eth.syncing.highestBlock, net.peerCount])'", fmt.Sprintf("\"[%d,%d,%d]\"", height, head, p.between(20, 50)), 0))
		height += p.between(700, 1400)
	}
	return entries, 0
}

// waitsDoubled looks at a payment after waits that double, until it has settled.
func waitsDoubled(p *generator) (entries []entry, _ int) {
	id := "tr_" + p.uuid()[:13]
	for k := range p.between(4, 6) {
		wait := 15 << k
		entries = append(entries, call("wait", object("seconds", wait), object("waited", wait)),
			call("get_transfer", object("id", id), object("id", id, "state", "pending", "estimated_settlement", "2026-05-04")))
	}
	return append(entries, call("wait", object("seconds", 900), object("waited", 900)), call("get_transfer", object("id", id), object("id", id, "state", "settled", "settled_at", p.clock()))), 0
}

// linksChecked asks for link after link of a page, and nearly all are there.
func linksChecked(p *generator) (entries []entry, _ int) {
	h, host := p.harness(), p.word()+".example"
	for range p.between(7, 12) {
		status := "HTTP/2 200"
		if p.IntN(8) == 0 {
			status = "HTTP/2 404"
		}
		entries = append(entries, h.shell("curl -sI https://"+host+"/"+p.word()+"/"+p.word()+" | head -1", status, 0))
	}
	return entries, 0
}

// ratesByCurrency asks for the rate of currency after currency.
func ratesByCurrency(p *generator) (entries []entry, _ int) {
	for _, currency := range p.shuffled("USD", "GBP", "JPY", "CHF", "SEK", "PLN", "CZK", "DKK", "HUF", "NOK")[:p.between(6, 10)] {
		entries = append(entries, call("get_exchange_rate", object("base", "EUR", "quote", currency, "date", "2026-03-31"), object("base", "EUR", "quote", currency, "date", "2026-03-31", "rate", fmt.Sprintf("%d.%04d", p.between(0, 12), p.IntN(10_000)), "source", "ECB")))
	}
	return entries, 0
}

// seedsSimulated runs one simulation with seed after seed, to tell an effect from chance.
func seedsSimulated(p *generator) (entries []entry, _ int) {
	h, model := p.harness(), p.word()
	for seed := range p.between(6, 10) {
		entries = append(entries, h.shell(fmt.Sprintf("python simulate.py --model %s --steps 10000 --seed %d", model, seed), fmt.Sprintf("model=%s seed=%d reward=%d.%02d episodes=200", model, seed, p.between(140, 190), p.IntN(100)), 0))
	}
	return entries, 0
}

// throttledPages reads page after page of an API; before some it is told to wait, and waits as long as that.
func throttledPages(p *generator) (entries []entry, _ int) {
	resource := p.word() + "s"
	for page := range p.between(4, 6) {
		args := object("method", "GET", "path", fmt.Sprintf("/v2/%s?page=%d", resource, page+1))
		if p.coin() {
			after := p.between(5, 40)
			entries = append(entries, call("http_request", args, object("status", 429, "headers", fmt.Sprintf("retry-after: %d", after), "body", "Too Many Requests")),
				call("sleep", object("seconds", after), quoted(fmt.Sprintf("Slept %d seconds", after))))
		}
		entries = append(entries, call("http_request", args, object("status", 200, "body", strings.Join(p.words(p.between(5, 9)), ","))))
	}
	return entries, 0
}
