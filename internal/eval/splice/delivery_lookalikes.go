package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that bring services to a cluster.

func deliveryLookalikes() []kind {
	return []kind{
		{name: "images_promoted_in_turn", build: imagesPromotedInTurn},
		{name: "canary_promoted_step_by_step", build: canaryPromotedStepByStep},
		{name: "checkouts_refreshed_in_turn", build: checkoutsRefreshedInTurn},
		{name: "admission_violations_cleared_in_turn", build: admissionViolationsClearedInTurn},
	}
}

// imagesPromotedInTurn copies the image of service after service from one registry to another and compares the digests.
func imagesPromotedInTurn(p *generator) (entries []entry, _ int) {
	run, team, now, last := p.waitingShell(), p.word(), p.passingTime(), ""
	from, to := "registry.example/staging/"+team+"/", "registry.example/prod/"+team+"/"
	tag, checks := fmt.Sprintf("2026.%d.%d", p.between(1, 12), p.between(0, 9)), p.coin()
	for _, name := range p.distinctWords(p.between(4, 7)) {
		sum := func() string {
			return fmt.Sprintf("sha256:%016x%016x%016x%016x", p.Uint64(), p.Uint64(), p.Uint64(), p.Uint64())
		}
		digest, source, target := sum(), from+name+":"+tag, to+name+":"+tag
		at := strings.NewReplacer("-", "/", "T", " ", "Z", "").Replace(now())
		entries = append(entries, run("crane copy "+source+" "+target, fmt.Sprintf("%s Copying from %s to %s\n%[1]s existing blob: %[4]s\n%[1]s pushed blob: %[5]s\n%[1]s %[3]s: digest: %[6]s size: %[7]d", at, source, target, sum(), sum(), digest, p.between(700, 2900)), 0).after(p.nextItem(last, name)))
		if checks {
			entries = append(entries, run("crane digest "+target, digest, 0).after(thought{"", p.pick("", "The digest must be the same.")}))
		}
		last = name
	}
	return entries, 0
}

// canaryPromotedStepByStep gives a new version more traffic step by step, and looks at its errors after each.
func canaryPromotedStepByStep(p *generator) (entries []entry, _ int) {
	run, service, space := p.waitingShell(), p.workload(), p.word()
	weights, pods := [][]int{{5, 10, 25, 50, 75, 100}, {10, 20, 40, 60, 80, 100}, {5, 20, 50, 100}}[p.IntN(3)], p.pickInt(10, 20, 40)
	seen := p.pick("The canary is up.", "")
	for k, weight := range weights {
		entries = append(entries, run("kubectl argo rollouts promote "+service+" -n "+space, "rollout '"+service+"' promoted", 0).after(thought{seen, p.pick("Let me go on to the next step.", "Next step of the rollout.", fmt.Sprintf("On to %d %%.", weight))}))
		status, step := "॥ Paused", 2*k+1
		if weight == 100 {
			status = "✔ Healthy"
		}
		entries = append(entries, run("kubectl argo rollouts get rollout "+service+" -n "+space+" | head -9", fmt.Sprintf("Name:            %s\nNamespace:       %s\nStatus:          %s\nStrategy:        Canary\n  Step:          %d/%d\n  SetWeight:     %d\n  ActualWeight:  %[6]d\nReplicas:\n  Updated:       %[7]d", service, space, status, step, 2*len(weights)-1, weight, max(1, pods*weight/100)), 0).after(thought{"", p.pick("How does it look?", "")}))
		if weight < 100 && p.coin() && len(entries) < 12 {
			entries = append(entries, run(fmt.Sprintf("curl -s 'http://prometheus:9090/api/v1/query' --data-urlencode 'query=sum(rate(http_requests_total{app=\"%s\",code=~\"5..\"}[5m]))' | jq -r '.data.result[0].value[1]'", service), fmt.Sprintf("0.0%d", p.between(10, 99)), 0).after(thought{"", p.pick("And the errors?", "Let me look at the errors before the next step.")}))
		}
		seen = p.pick("The errors stay low.", fmt.Sprintf("%d %% and healthy.", weight), "")
	}
	return entries, 0
}

// checkoutsRefreshedInTurn clones repository after repository; those that are there already are pulled.
func checkoutsRefreshedInTurn(p *generator) (entries []entry, _ int) {
	run, owner, last := p.patientShell(), p.word(), ""
	for _, name := range p.distinctWords(p.between(5, 8)) {
		clone := "git clone https://github.com/" + owner + "/" + name
		t := p.nextItem(last, name)
		last = name
		if p.coin() {
			entries = append(entries, run(clone, "Cloning into '"+name+"'...", 0).after(t))
			continue
		}
		pulled := "Already up to date."
		if p.coin() {
			a, b := p.commitHash()[:7], p.commitHash()[:7]
			pulled = fmt.Sprintf("Updating %s..%s\nFast-forward\n %s/%s.go | %d +%s\n 1 file changed", a, b, p.word(), p.word(), p.between(2, 40), strings.Repeat("+", p.between(1, 9)))
		}
		entries = append(entries, run(clone, "fatal: destination path '"+name+"' already exists and is not an empty directory.", 128).after(t),
			run("git -C "+name+" pull --ff-only", pulled, 0).after(thought{p.pick("It is there already.", ""), p.pick("Then I pull.", "Let me bring it up to date.")}))
	}
	return entries, 0
}

// admissionViolationsClearedInTurn applies a manifest that one policy after another denies; each time what it wants is added, until it is admitted.
func admissionViolationsClearedInTurn(p *generator) (entries []entry, _ int) {
	h, service, space := p.patient(), p.workload(), p.word()
	file := "k8s/" + service + ".yaml"
	rules := [][4]string{
		{"require-requests-limits", "CPU and memory resource requests and memory limits are required for containers.", "        image: " + service, "        image: " + service + "\n        resources:\n          requests: {cpu: 100m, memory: 128Mi}\n          limits: {memory: 256Mi}"},
		{"require-run-as-nonroot", "Running as root is not allowed. The field runAsNonRoot must be set to true.", "    spec:", "    spec:\n      securityContext:\n        runAsNonRoot: true"},
		{"require-labels", "The label `app.kubernetes.io/name` is required.", "      labels:", "      labels:\n        app.kubernetes.io/name: " + service},
		{"disallow-latest-tag", "Using a mutable image tag e.g. 'latest' is not allowed.", service + ":latest", fmt.Sprintf("%s:%d.%d.%d", service, p.between(1, 5), p.IntN(20), p.IntN(9))},
		{"require-probes", "Liveness and readiness probes are required for all containers.", "        ports:", "        readinessProbe:\n          httpGet: {path: /healthz, port: 8080}\n        livenessProbe:\n          httpGet: {path: /healthz, port: 8080}\n        ports:"},
		{"require-ro-rootfs", "Root filesystem must be read-only.", "        ports:", "        securityContext:\n          readOnlyRootFilesystem: true\n        ports:"},
	}
	p.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	apply := "kubectl apply -n " + space + " -f " + file
	t := thought{"", p.pick("Let me apply the manifest.", "Apply it.")}
	for _, r := range rules[:p.between(3, 6)] {
		entries = append(entries, h.shell(apply, fmt.Sprintf("Error from server: error when creating %q: admission webhook \"validate.kyverno.svc-fail\" denied the request:\n\nresource Deployment/%s/%s was blocked due to the following policies\n\n%s:\n  autogen-validate: 'validation error: %s rule autogen-validate failed at path /spec/template/spec/'", file, space, service, r[0], r[1]), 1).after(t),
			h.replace(file, r[2], r[3]).after(thought{p.pick("The next policy.", "Another rule: "+r[0]+".", ""), p.pick("Let me add what it wants.", "I'll add that.", "Easy to satisfy.")}))
		t = thought{p.pick("", "That rule is met."), p.pick("Apply again.", "Let me see whether it is admitted.", "")}
	}
	return append(entries, h.shell(apply, "deployment.apps/"+service+" created", 0).after(t)), 0
}
