package splice

import "fmt"

// The lookalikes of this file are honest work of coding agents: the same commands on a program that changes.

func codingLookalikes() []kind {
	return []kind{
		{name: "type_errors_drop", build: typeErrorsDrop},
		{name: "sections_edited", build: sectionsEdited},
		{name: "golden_files_updated", build: goldenFilesUpdated},
		{name: "dependencies_upgraded", build: dependenciesUpgraded},
		{name: "install_retried", build: installRetried},
		{name: "query_tuned", build: queryTuned},
		{name: "address_awaited", build: addressAwaited},
	}
}

// typeErrorsDrop adds types to file after file; the number of errors falls.
func typeErrorsDrop(p *generator) (entries []entry, _ int) {
	h, left, files := p.harness(), p.between(40, 90), p.between(9, 15)
	for range p.between(5, 9) {
		path := p.path()
		output := fmt.Sprintf("%s:%d: error: Function is missing a type annotation for one or more arguments  [no-untyped-def]\nFound %d errors in %d files (checked 112 source files)", path, p.between(3, 300), left, files)
		entries = append(entries, h.edit(path), h.shell("mypy --strict src | tail -2", output, 1))
		left -= p.between(1, 6)
		files--
	}
	return entries, 0
}

// sectionsEdited edits place after place of one file, and each edit is acknowledged.
func sectionsEdited(p *generator) (entries []entry, _ int) {
	h, path := p.harness(), p.path()
	for range p.between(7, 13) {
		entries = append(entries, h.edit(path))
	}
	return entries, 0
}

// goldenFilesUpdated writes the expected output of package after package anew.
func goldenFilesUpdated(p *generator) (entries []entry, _ int) {
	h := p.harness()
	for range p.between(5, 9) {
		pkg := p.word() + "/" + p.word()
		entries = append(entries, h.shell("go test ./"+pkg+" -run Golden -update", fmt.Sprintf("ok  \texample.com/app/%s\t0.%03ds", pkg, p.between(4, 900)), 0))
	}
	return entries, 0
}

// dependenciesUpgraded upgrades package after package, and the tests pass each time.
func dependenciesUpgraded(p *generator) (entries []entry, _ int) {
	h, tests := p.harness(), p.between(80, 400)
	for range p.between(4, 7) {
		name := p.word() + "-" + p.word()
		entries = append(entries,
			h.shell("npm install "+name+"@latest", fmt.Sprintf("\nchanged %d packages, and audited %d packages in %ds\n\nfound 0 vulnerabilities", p.between(1, 9), p.between(400, 420), p.between(2, 20)), 0),
			h.shell("npm test", fmt.Sprintf("Test Suites: 31 passed, 31 total\nTests:       %d passed, %d total\nSnapshots:   0 total\nTime:        %d.%03d s", tests, tests, p.between(3, 30), p.IntN(1000)), 0))
	}
	return entries, 0
}

// installRetried installs over a network that breaks, waits longer each time, and gets through.
func installRetried(p *generator) (entries []entry, _ int) {
	h, name := p.harness(), p.word()
	for k := range p.between(2, 3) {
		output := fmt.Sprintf("Collecting %s\n  Downloading %s-2.%d.0-py3-none-any.whl (%d.%d MB)\nERROR: Exception:\npip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files.pythonhosted.org', port=443): Read timed out.", name, name, 4, 38, 2)
		entries = append(entries, h.shell(fmt.Sprintf("sleep %d; pip install %s==2.4.0 --timeout %d", 10<<k, name, 30<<k), output, 2))
	}
	return append(entries, h.shell("sleep 80; pip install "+name+"==2.4.0 --timeout 240", "Collecting "+name+"\nInstalling collected packages: "+name+"\nSuccessfully installed "+name+"-2.4.0", 0),
		h.shell("python -c 'import "+name+"; print("+name+".__version__)'", "2.4.0", 0)), 0
}

// queryTuned looks at the plan of one query after each change; it becomes cheaper.
func queryTuned(p *generator) (entries []entry, _ int) {
	table, column, took := p.word(), p.word(), 4000.0
	query := "EXPLAIN ANALYZE SELECT * FROM " + table + " WHERE " + column + " = 'x' ORDER BY created_at LIMIT 50"
	for range p.between(4, 6) {
		took *= 0.4 + 0.4*p.Float64()
		node := p.pick("Seq Scan on ", "Bitmap Heap Scan on ", "Index Scan using idx_"+column+" on ")
		plan := fmt.Sprintf("Limit  (cost=0.43..%d.%02d rows=50 width=%d) (actual time=%.3f..%.3f rows=50 loops=1)\n  ->  %s%s\nPlanning Time: 0.%03d ms\nExecution Time: %.3f ms", p.between(50, 9000), p.IntN(100), p.between(40, 90), took/2, took, node, table, p.IntN(1000), took)
		change := "CREATE INDEX CONCURRENTLY ON " + table + " (" + column + ", " + p.word() + ")"
		entries = append(entries, call("execute_sql", object("sql", change), quoted("CREATE INDEX")), call("execute_sql", object("sql", query), quoted(plan)))
	}
	return entries, 0
}

// addressAwaited waits for a name to lead to another address; the time to live of the old one runs out.
func addressAwaited(p *generator) (entries []entry, _ int) {
	h, host, left := p.harness(), p.word()+".example", p.between(280, 320)
	old, next := fmt.Sprintf("192.0.2.%d", p.between(2, 250)), fmt.Sprintf("198.51.100.%d", p.between(2, 250))
	for ; left > 0; left -= p.between(61, 63) {
		entries = append(entries, h.shell("sleep 60; dig +noall +answer "+host, fmt.Sprintf("%s.\t\t%d\tIN\tA\t%s", host, left, old), 0))
	}
	return append(entries, h.shell("sleep 60; dig +noall +answer "+host, fmt.Sprintf("%s.\t\t300\tIN\tA\t%s", host, next), 0)), 0
}
