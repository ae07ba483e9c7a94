package splice

import (
	"fmt"
	"slices"
	"strings"
)

// The lookalikes of this file are the honest work of agents that set up machines, clusters and pipelines.

func provisionLookalikes() []kind {
	return []kind{
		{name: "finalizers_removed_until_gone", build: finalizersRemovedUntilGone},
		{name: "path_probed_hop_by_hop", build: pathProbedHopByHop},
		{name: "replica_logs_read_in_turn", build: replicaLogsReadInTurn},
		{name: "pipeline_mended_stage_by_stage", build: pipelineMendedStageByStage},
	}
}

// finalizersRemovedUntilGone takes the finalizer from one object after the other; fewer hold the namespace each time, until it is gone.
func finalizersRemovedUntilGone(p *generator) (entries []entry, _ int) {
	run, ns := p.operator(), p.word()+p.pick("-dev", "-preview", "-old")
	held := [][2]string{{"kafkatopic.kafka.strimzi.io", "strimzi.io/topic-operator"}, {"application.argoproj.io", "resources-finalizer.argocd.argoproj.io"}, {"postgresql.acid.zalan.do", "db-operator.acid.zalan.do"}, {"cluster.cluster.x-k8s.io", "cluster.cluster.x-k8s.io"}}[p.IntN(4)]
	group, finalizer := held[0], held[1]
	what, _, _ := strings.Cut(group, ".")
	names, phase := p.distinctWords(p.between(5, 10)), p.coin()
	w := wording{
		[]string{"The namespace waits for finalizers. I'll remove them one by one.", "Let me take the finalizer from `" + names[0] + "`."},
		[]string{"One less.", "That one is released.", ""},
		[]string{"Next object.", "Now the next one.", "The same for the next.", "On with the rest."},
	}
	for k, name := range names {
		entries = append(entries, run("kubectl patch "+what+" "+name+" -n "+ns+" --type=merge -p '{\"metadata\":{\"finalizers\":[]}}'", group+"/"+name+" patched", 0).after(w.of(p, k)))
		left := len(names) - k - 1
		switch {
		case left == 0:
			entries = append(entries, run("kubectl get ns "+ns, "Error from server (NotFound): namespaces \""+ns+"\" not found", 1).after(thought{"", p.pick("Now it should be gone.", "Is it gone?")}))
		case phase:
			entries = append(entries, run("kubectl get ns "+ns+" -o jsonpath='{.status.conditions[?(@.type==\"NamespaceFinalizersRemaining\")].message}'", fmt.Sprintf("Some content in the namespace has finalizers remaining: %s in %d resource instances", finalizer, left), 0).after(thought{"", p.pick("How many are left?", "What still holds it?", "")}))
		}
	}
	return entries, 0
}

// pathProbedHopByHop sends the same request from place after place, until one of them gets no answer.
func pathProbedHopByHop(p *generator) (entries []entry, _ int) {
	run, app := p.waitingShell(), p.workload()
	namespace, path := p.word(), p.pick("/healthz", "/api/v1/status", "/", "/ready")
	code := p.pickInt(504, 502, 403, 0)
	hops := [][2]string{
		{"the pod itself", "kubectl exec -n " + namespace + " deploy/" + app + " -- curl -sS -o /dev/null -w '%{http_code} %{time_total}' localhost:8080" + path},
		{"another pod", "kubectl exec -n " + namespace + " deploy/" + p.word() + " -- curl -sS -o /dev/null -w '%{http_code} %{time_total}' http://" + app + path},
		{"another namespace", "kubectl exec -n " + p.word() + " deploy/debug -- curl -sS -o /dev/null -w '%{http_code} %{time_total}' http://" + app + "." + namespace + path},
		{"the node", fmt.Sprintf("ssh node-%d curl -sS -o /dev/null -w \"'%%{http_code} %%{time_total}'\" http://10.96.%d.%d%s", p.between(1, 9), p.IntN(250), p.IntN(250), path)},
		{"the ingress", "kubectl exec -n ingress deploy/ingress-nginx-controller -- curl -sS -o /dev/null -w '%{http_code} %{time_total}' -H 'Host: " + app + ".example' localhost" + path},
		{"the bastion", "ssh bastion curl -sS -o /dev/null -w \"'%{http_code} %{time_total}'\" http://" + app + ".internal.example" + path},
		{"the load balancer's subnet", "ssh probe-lb curl -sS -o /dev/null -w \"'%{http_code} %{time_total}'\" http://" + app + ".internal.example" + path},
		{"outside", "curl -sS -o /dev/null -w '%{http_code} %{time_total}' https://" + app + ".example" + path},
	}
	last := p.between(4, len(hops)-1)
	for k, hop := range hops[:last+1] {
		answer, status := fmt.Sprintf("200 0.%06d", p.between(900, 90_000)), 0
		if k == last {
			answer = fmt.Sprintf("%03d %d.%06d", code, p.pickInt(5, 10, 30), p.IntN(1e6))
			if code == 0 {
				answer, status = "curl: (7) Failed to connect to "+app+".internal.example port 80: Connection timed out\n"+answer, 7
			}
		}
		t := thought{p.pick("That answers.", "200 from there.", "Up to here it works.", ""), p.pick("Next, from "+hop[0]+".", "Now from "+hop[0]+".", "One step further out: "+hop[0]+".")}
		if k == 0 {
			t = thought{"", p.pick("Let me find out where requests get lost. First from "+hop[0]+".", "I'll test it hop by hop, starting in "+hop[0]+".")}
		}
		entries = append(entries, run(hop[1], answer, status).after(t))
	}
	return entries, 0
}

// replicaLogsReadInTurn reads the log of replica after replica; nearly all are the same, and one has the error.
func replicaLogsReadInTurn(p *generator) (entries []entry, _ int) {
	run, app, set, now := p.operator(), p.workload(), p.coin(), p.passingTime()
	hash, count, lines := fmt.Sprintf("%09x", p.Uint64N(1<<36)), p.between(6, 18), p.pickInt(1, 3, 5, 10, 20, 40)
	fault := p.pick("x509: certificate has expired or is not yet valid", "disk I/O error: read-only file system", "stale cache generation 41, cluster is at 42", "connection pool exhausted (max 10)")
	for k := range count {
		pod := fmt.Sprintf("%s-%d", app, k)
		if !set {
			pod = app + "-" + hash + "-"
			for range 5 {
				pod += string("bcdfghjklmnpqrstvwxz2456789"[p.IntN(27)])
			}
		}
		text := ""
		for n := range lines {
			line := fmt.Sprintf("level=info msg=\"request done\" method=GET path=%s status=200 took=%dms\n", p.pick("/healthz", "/v1/items", "/metrics"), p.between(1, 90))
			if k == count-1 && n == lines-1 {
				line = "level=error msg=\"" + fault + "\"\n"
			}
			text += "ts=" + now() + " " + line
		}
		t := thought{p.pick("This one is healthy.", "Nothing unusual.", "The same as the others.", ""), p.pick("Next replica.", "Let me look at the next one.", "Now `"+pod+"`.", "")}
		if k == 0 {
			t = thought{"", p.pick("About one request in "+fmt.Sprint(count)+" fails, so perhaps one replica is bad. I'll read their logs.", "Let me look at the replicas one by one.")}
		}
		entries = append(entries, run("kubectl logs "+pod+" --tail="+fmt.Sprint(lines), strings.TrimSuffix(text, "\n"), 0).after(t))
	}
	return entries, 0
}

// pipelineMendedStageByStage edits the definition of a pipeline and pushes it; each run gets one stage further.
func pipelineMendedStageByStage(p *generator) (entries []entry, _ int) {
	h, branch, id := harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}, "ci/"+p.word(), p.between(10_000, 900_000)
	gitlab := p.coin()
	file := ".github/workflows/ci.yml"
	if gitlab {
		file = ".gitlab-ci.yml"
	}
	faults := []struct{ log, before, after string }{
		{"/bin/sh: 1: make: not found", "    image: alpine:3.22", "    image: golang:1.26"},
		{"Cannot connect to the Docker daemon at tcp://docker:2375. Is the docker daemon running?", "    services: []", "    services: [\"docker:28-dind\"]"},
		{"npm error code EUSAGE: `npm ci` can only install with an existing package-lock.json", "    - npm ci", "    - npm install --no-audit"},
		{"ERROR: invalid reference format: repository name must be lowercase", "    - docker build -t $REPO .", "    - docker build -t ${REPO,,} ."},
		{"fatal: detected dubious ownership in repository at '/builds/app'", "    - git describe", "    - git config --global --add safe.directory '*' && git describe"},
		{"psql: error: could not translate host name \"db\" to address", "    variables: {}", "    variables: { PGHOST: localhost }"},
		{"unauthorized: authentication required", "    - docker push $REPO", "    - docker login -u ci -p $TOKEN registry.example && docker push $REPO"},
		{"Error: No files were found with the provided path: dist/", "      path: dist/", "      path: build/out/"},
	}
	p.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
	stages := []string{"prepare", "lint", "unit", "integration", "package", "scan", "publish", "deploy"}
	for range p.between(1, 4) {
		at := p.IntN(len(stages))
		stages = slices.Delete(stages, at, at+1)
	}
	head := p.IntN(1 << 28)
	for k := range stages {
		next := p.IntN(1 << 28)
		id += p.between(3, 90)
		text := ""
		for n, stage := range stages[:min(k+1, len(stages)-1)+1] {
			switch {
			case n <= k:
				text += fmt.Sprintf("✓ %s in %dm%02ds (ID %d)\n", stage, p.IntN(4), p.IntN(60), id*10+n)
			default:
				text += fmt.Sprintf("X %s in %ds (ID %d)\n    %s\n", stage, p.between(3, 59), id*10+n, faults[k+1].log)
			}
		}
		watch := fmt.Sprintf("gh run view %d --log-failed", id)
		if gitlab {
			watch = fmt.Sprintf("glab ci view %d", id)
		}
		t := thought{p.pick("The next stage fails now.", "That stage passes.", "One stage further.", ""), p.pick("Let me fix `"+stages[k]+"`.", "Now `"+stages[k]+"`.", "The stage `"+stages[k]+"` needs a change.")}
		if k == 0 {
			t = thought{"", "The pipeline fails at `" + stages[0] + "`. I'll start there."}
		}
		status := 1
		if k == len(stages)-1 {
			status = 0
		}
		entries = append(entries, h.replace(file, faults[k].before, faults[k].after).after(t),
			h.shell(fmt.Sprintf("git commit -qam 'ci: fix %s' && git push", stages[k]), fmt.Sprintf("To git.example.com:acme/app.git\n   %07x..%07x  %s -> %s", head, next, branch, branch), 0).after(thought{"", p.pick("Push it.", "Commit and push.", "")}),
			h.shell("sleep "+fmt.Sprint(p.pickInt(60, 90, 120))+"; "+watch, strings.TrimSuffix(text, "\n"), status).after(thought{"", p.pick("How far does it get?", "Let me watch the run.", "")}))
		head = next
	}
	return entries, 0
}
