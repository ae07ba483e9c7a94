package splice

import (
	"fmt"
	"strings"
)

// The loops of this file are those of agents that operate clouds, read data and look for sources.

func cloudLoops() []kind {
	return []kind{
		{name: "zones_without_quota", build: zonesWithoutQuota},
		{name: "challenge_fails", build: challengeFails},
		{name: "alert_triggers_again", build: alertTriggersAgain},
		{name: "heartbeats_read", build: heartbeatsRead},
		{name: "gated_model", build: gatedModel},
		{name: "total_stays_the_same", build: totalStaysTheSame},
		{name: "scan_without_text", build: scanWithoutText},
		{name: "paper_never_found", build: paperNeverFound},
	}
}

// zonesWithoutQuota asks zone after zone for a machine, and the quota is that of all regions.
func zonesWithoutQuota(p *generator) (entries []entry, _ int) {
	h, name, project := p.harness(), p.word(), p.word()+"-"+fmt.Sprint(p.between(1000, 9999))
	for k := range p.between(5, 9) {
		if k > 1 && p.IntN(3) == 0 { // what it looks up between is new, and no help
			entries = append(entries, p.call())
		}
		zone := p.pick("us-central1", "us-west1", "europe-west4", "us-east4", "asia-east1", "europe-west1") + "-" + p.pick("a", "b", "c")
		gpu := p.pick("nvidia-tesla-t4", "nvidia-l4", "nvidia-tesla-v100", "nvidia-tesla-p4")
		command := "gcloud compute instances create " + name + " --zone=" + zone + " --machine-type=" + p.pick("n1-standard-4", "g2-standard-4", "n1-standard-8") + " --accelerator=type=" + gpu + ",count=1" + p.pick("", " --preemptible", " --provisioning-model=SPOT", " --maintenance-policy=TERMINATE")
		entries = append(entries, h.shell(command, "ERROR: (gcloud.compute.instances.create) Could not fetch resource:\n - Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 0.0 globally.\n\tmetric name = compute.googleapis.com/gpus_all_regions\n\tlimit name = GPUS-ALL-REGIONS-per-project\n\tlimit = 0.0\n\tdimensions = global: global\nTry your request in another zone, or view documentation on how to increase quotas: https://cloud.google.com/compute/quotas. Project: "+project, 1))
	}
	return entries, 1
}

// challengeFails asks for a certificate in other ways; the address of the host is behind a firewall.
func challengeFails(p *generator) (entries []entry, _ int) {
	h, domain, ip := p.harness(), p.word()+".example", fmt.Sprintf("203.0.113.%d", p.IntN(256))
	for range p.between(4, 7) {
		var output strings.Builder
		plugin := p.pick("nginx", "standalone", "webroot")
		fmt.Fprintf(&output, "Saving debug log to /var/log/letsencrypt/letsencrypt.log\nRequesting a certificate for %s\n\nCertbot failed to authenticate some domains (authenticator: %s). The Certificate Authority reported these problems:\n  Domain: %s\n  Type:   connection\n  Detail: %s: Fetching http://%s/.well-known/acme-challenge/%012x%08x: Timeout during connect (likely firewall problem)\n\n", domain, plugin, domain, ip, domain, p.Uint64N(1<<48), p.Uint32())
		output.WriteString("Some challenges have failed.\nAsk for help or search for solutions at https://community.letsencrypt.org. See the logfile /var/log/letsencrypt/letsencrypt.log or re-run Certbot with -v for more details.")
		between := h.shell(p.pick("systemctl reload nginx", "nginx -s reload", "systemctl restart nginx", "mkdir -p /var/www/html/.well-known/acme-challenge"), "", 0)
		if p.coin() {
			between = h.edit("/etc/nginx/sites-available/" + domain)
		}
		entries = append(entries, between, h.shell("certbot certonly --"+plugin+" -d "+domain+p.pick("", " --dry-run", " -v", " --preferred-challenges http", " --force-renewal")+" --non-interactive", output.String(), 1))
	}
	return entries, 2
}

// alertTriggersAgain resolves an incident, and it is triggered anew under another number.
func alertTriggersAgain(p *generator) (entries []entry, _ int) {
	service, number := p.word(), p.between(2000, 9000)
	title := "[" + service + "] " + p.pick("Disk usage above 95 %", "Certificate expired", "Queue depth above 10000", "Health check failing in eu-west-1")
	for range p.between(4, 7) {
		id := fmt.Sprintf("Q%013X", p.Uint64N(1<<52))
		entries = append(entries,
			call("list_incidents", object("statuses", []string{"triggered"}, "limit", p.between(5, 25)), quoted(fmt.Sprintf("{\"incidents\":[{\"id\":%q,\"incident_number\":%d,\"title\":%q,\"status\":\"triggered\",\"urgency\":\"high\",\"created_at\":%q,\"service\":{\"summary\":%q}}],\"more\":false}", id, number, title, p.clock(), service))),
			call("manage_incidents", object("incident_ids", []string{id}, "status", "resolved", "note", p.pick("Resolved, looks transient.", "Auto-recovered.", "No action needed.", "Known noise, resolving.")), object("updated", 1, "incident_ids", []string{id})))
		number += p.between(1, 4)
	}
	return entries, 2
}

// heartbeatsRead reads a log that grows by heartbeats only: numbers and times move, and nothing happens.
func heartbeatsRead(p *generator) (entries []entry, _ int) {
	h, worker, seq, second := p.harness(), p.word(), p.between(100, 9000), p.between(0, 80_000)
	for range p.between(10, 15) {
		var output strings.Builder
		for range p.between(3, 6) {
			seq, second = seq+1, second+5
			fmt.Fprintf(&output, "2026-05-11T%02d:%02d:%02d.%03dZ INFO  [%s-0] heartbeat seq=%d rss=%dMB goroutines=%d\n", second/3600, second/60%60, second%60, p.IntN(1000), worker, seq, p.between(210, 216), p.between(40, 44))
		}
		command := p.pick("kubectl logs deploy/"+worker+" --tail=", "kubectl logs deploy/"+worker+" --since=30s --tail=", "kubectl -n jobs logs deploy/"+worker+" --tail=") + fmt.Sprint(p.between(3, 6))
		entries = append(entries, h.shell(command, output.String(), 0))
	}
	return entries, 1
}

// gatedModel writes script after script to fetch a model that needs an approval the account does not have.
func gatedModel(p *generator) (entries []entry, _ int) {
	repo := "acme-ai/" + p.word() + "-" + p.pick("8B-Instruct", "7B", "70B-chat")
	for range p.between(4, 6) {
		load := p.pick("model = AutoModelForCausalLM.from_pretrained('"+repo+"')", "snapshot_download('"+repo+"')", "pipe = pipeline('text-generation', model='"+repo+"')", "hf_hub_download('"+repo+"', 'config.json')", "tok = AutoTokenizer.from_pretrained('"+repo+"', token=True)")
		output := fmt.Sprintf("Traceback (most recent call last):\n  File \"/usr/lib/python3.11/site-packages/huggingface_hub/utils/_http.py\", line %d, in hf_raise_for_status\n    response.raise_for_status()\nhuggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-%08x-%012x%08x;%s)\n\nCannot access gated repo for url https://huggingface.co/%s/resolve/main/config.json.\nAccess to model %s is restricted and you are not in the authorized list. Visit https://huggingface.co/%s to ask for access.",
			p.between(390, 420), p.Uint32(), p.Uint64N(1<<48), p.Uint32(), p.uuid(), repo, repo, repo)
		entries = append(entries, call("python", object("code", p.pick("import os\n", "import torch\n", "from huggingface_hub import login\n", "")+p.code(p.between(2, 6))+"\n"+load), quoted(output)))
	}
	return entries, 1
}

// totalStaysTheSame computes one sum in other ways, since another figure was expected, and gets the same.
func totalStaysTheSame(p *generator) (entries []entry, _ int) {
	column, total, want := p.word(), fmt.Sprintf("%d.%02d", p.between(20_000, 900_000), p.IntN(100)), p.between(20_000, 900_000)
	for range p.between(5, 8) {
		code := p.pick("df['"+column+"'].sum()", "df.groupby('region')['"+column+"'].sum().sum()", "sum(float(x) for x in df['"+column+"'])", "df.pivot_table(values='"+column+"', aggfunc='sum').iloc[0, 0]", "np.nansum(df['"+column+"'].to_numpy())", "df.drop_duplicates()['"+column+"'].sum()", "pd.read_csv('sales.csv')['"+column+"'].astype(float).sum()")
		entries = append(entries,
			call("execute_python", object("code", p.pick("", "# recompute\n", "import numpy as np\n")+"print(round("+code+", 2))"), quoted(total)),
			say(p.pick(fmt.Sprintf("The report says %d, so this can't be right. Let me compute it another way.", want), fmt.Sprintf("Still not %d. Perhaps the rows are aggregated differently.", want), "The same figure again. Let me approach the sum from another side.", fmt.Sprintf("Hmm, %s once more. I expected %d. I'll try again.", total, want))))
	}
	return entries, 2
}

// scanWithoutText reads a scanned document with other programs, and gets blanks or the numbers of glyphs.
func scanWithoutText(p *generator) (entries []entry, _ int) {
	h, file := p.harness(), p.word()+".pdf"
	for range p.between(5, 8) {
		page := p.between(1, 9)
		var glyphs strings.Builder
		for range p.between(8, 40) {
			fmt.Fprintf(&glyphs, "(cid:%d)", p.between(1, 240))
		}
		try := [][2]string{
			{"pdftotext " + file + " -", strings.Repeat("\f", 9)},
			{fmt.Sprintf("pdftotext -layout -f %d -l %d %s - | head -50", page, page+3, file), "\f\f\f\f"},
			{fmt.Sprintf("python3 -c \"import pdfplumber; print(pdfplumber.open('%s').pages[%d].extract_text())\"", file, page-1), glyphs.String()},
			{fmt.Sprintf("python3 -c \"from pypdf import PdfReader; print(PdfReader('%s').pages[%d].extract_text())\"", file, page-1), ""},
			{fmt.Sprintf("python3 -c \"import fitz; print(fitz.open('%s')[%d].get_text('words'))\"", file, page-1), "[]"},
			{fmt.Sprintf("mutool draw -F txt %s %d", file, page), "\n\f"},
			{"strings " + file + " | grep -i " + p.word(), ""},
		}[p.IntN(7)]
		entries = append(entries, h.shell(try[0], try[1], 0))
	}
	return entries, 1
}

// paperNeverFound searches for a paper that does not exist; the same others are found, a few at a time.
func paperNeverFound(p *generator) (entries []entry, _ int) {
	topic, author := p.phrase(2, 3), strings.ToUpper(p.word()[:1])+". "+p.pick("Okafor", "Lindqvist", "Tanaka", "Moreau", "Castellanos")
	titles := make([]string, 7)
	for k := range titles {
		titles[k] = p.phrase(5, 9) + fmt.Sprintf(" (%d)", p.between(2009, 2025))
	}
	for range p.between(5, 9) {
		query := p.pick("", "", "paper ") + p.pick(author+" "+topic, topic+" "+author+" "+fmt.Sprint(p.between(2018, 2024)), author+" et al. "+topic+" pdf", topic+" arXiv "+author, topic+" study "+author+" dataset")
		var page strings.Builder
		fmt.Fprintf(&page, "Found %d papers, showing 4.\n", p.between(40, 900))
		for k, title := range p.shuffled(append([]string(nil), titles...)...)[:4] {
			fmt.Fprintf(&page, "\n%d. %s\n   Citations: %d  Relevance: 0.%d\n", k+1, title, p.between(3, 90), p.between(310, 690))
		}
		entries = append(entries, call(p.pick("search_papers", "semantic_scholar_search", "search_arxiv"), object("query", query, "limit", 4), quoted(page.String())))
	}
	return entries, 2
}
