package splice

import (
	"fmt"
	"strings"
	"time"
)

// The loops of this file are those of agents that run platforms: clusters, names, runners and nodes.

func platformLoops() []kind {
	return []kind{
		{name: "kind_not_in_cluster", build: kindNotInCluster},
		{name: "record_in_other_zone", build: recordInOtherZone},
		{name: "no_runner_takes_job", build: noRunnerTakesJob},
		{name: "drain_blocked_by_budget", build: drainBlockedByBudget},
	}
}

// kindNotInCluster writes other versions and names into a manifest and applies it; the cluster does not have the kind at all.
func kindNotInCluster(p *generator) (entries []entry, _ int) {
	h, name, namespace := p.harness(), p.word(), p.word()
	kinds := [][2]string{{"ServiceMonitor", "monitoring.coreos.com"}, {"ExternalSecret", "external-secrets.io"}, {"ScaledObject", "keda.sh"}, {"Certificate", "cert-manager.io"}, {"HTTPRoute", "gateway.networking.k8s.io"}}
	chosen := kinds[p.IntN(len(kinds))]
	file, version := "deploy/"+strings.ToLower(chosen[0])+".yaml", "v1"
	words := wording{
		first: []string{"Let me set the API version of the " + chosen[0] + ".", "I'll write the manifest and apply it."},
		seen:  []string{"The cluster doesn't know the kind.", "No matches for kind " + chosen[0] + ".", "The mapping is still not found.", "That API version isn't it either.", "Same error from kubectl."},
		next:  []string{"Let me try another API version.", "Perhaps it is a beta version here.", "Let me change the apiVersion.", "I'll go back to the earlier version.", "Maybe the group is written in another way."},
	}
	for round := range p.between(4, 6) {
		next := p.pick("v1", "v1beta1", "v1alpha1", "v1beta2", "v2")
		for next == version {
			next = p.pick("v1", "v1beta1", "v1alpha1", "v1beta2")
		}
		command := "kubectl apply -f " + file + p.pick("", "", " --validate=false", " --server-side", " -n "+namespace)
		output := fmt.Sprintf("error: resource mapping not found for name: %q namespace: %q from %q: no matches for kind %q in version \"%s/%s\"\nensure CRDs are installed first", name, namespace, file, chosen[0], chosen[1], next)
		entries = append(entries,
			h.replace(file, "apiVersion: "+chosen[1]+"/"+version, "apiVersion: "+chosen[1]+"/"+next).after(words.of(p, round)),
			h.shell(command, output, 1).after(thought{next: p.pick("Apply it.", "Now apply the manifest.", "Let me apply that.", "Applying again.")}))
		version = next
	}
	return entries, 2
}

// recordInOtherZone writes a record into a zone that the registrar does not delegate to, and asks a resolver, which does not find it.
func recordInOtherZone(p *generator) (entries []entry, _ int) {
	run, domain := p.commands(), p.word()+p.word()+".example"
	name, zone := p.pick("_acme-challenge", "_verify", "status", "links")+"."+domain, fmt.Sprintf("%016x%016x", p.Uint64(), p.Uint64())
	value, serial, clock := fmt.Sprintf("token-%08x%08x", p.Uint32(), p.Uint32()), 2026061700+p.IntN(20), p.passingTime()
	words := wording{
		first: []string{"I'll create the TXT record.", "Let me add the record for " + name + "."},
		seen:  []string{"The resolver says NXDOMAIN.", "The record isn't visible.", "Still NXDOMAIN, although it was created.", "dig finds nothing.", "It has not arrived."},
		next:  []string{"Let me delete and create it again.", "I'll write the record with a shorter TTL.", "Let me set the record once more.", "Perhaps the name needs the full domain.", "Let me update the record."},
	}
	for round := range p.between(3, 5) {
		tool := "dns_create_record"
		if round > 0 {
			tool = p.pick("dns_create_record", "dns_update_record", "dns_update_record")
		}
		ttl := p.pickInt(60, 120, 300, 1)
		result := object("success", true, "errors", []string{}, "result", object("id", fmt.Sprintf("%016x", p.Uint64()), "zone_id", zone, "name", name, "type", "TXT", "content", value, "ttl", ttl, "modified_on", clock()))
		server := p.pick("8.8.8.8", "1.1.1.1", "9.9.9.9")
		output := fmt.Sprintf("\n; <<>> DiG 9.18.28 <<>> TXT %s @%s\n;; global options: +cmd\n;; Got answer:\n;; ->>HEADER<<- opcode: QUERY, status: NXDOMAIN, id: %d\n;; flags: qr rd ra; QUERY: 1, ANSWER: 0, AUTHORITY: 1, ADDITIONAL: 1\n\n;; QUESTION SECTION:\n;%s.\tIN\tTXT\n\n;; AUTHORITY SECTION:\n%s.\t%d\tIN\tSOA\tns1.registrar.example. hostmaster.registrar.example. %d 7200 900 1209600 86400\n\n;; Query time: %d msec\n;; SERVER: %s#53(%s) (UDP)\n;; WHEN: Wed Jun 17 1%d:%02d:%02d UTC 2026\n;; MSG SIZE  rcvd: 131", name, server, p.IntN(65_536), name, domain, p.between(100, 3600), serial, p.between(2, 60), server, server, round, p.IntN(60), p.IntN(60))
		entries = append(entries,
			call(tool, object("zone_id", zone, "type", "TXT", "name", p.pick(name, name, name+"."), "content", value, "ttl", ttl), result).after(words.of(p, round)),
			run("dig TXT "+name+" @"+server, output, 0).after(thought{p.pick("The API says success.", "", "The record is written."), p.pick("Let me query it.", "Is it visible?", "Check with a public resolver.", "Now dig should see it.")}))
	}
	return entries, 2
}

// noRunnerTakesJob cancels a workflow that waits for a runner and starts it anew; no runner has the label that the job asks for.
func noRunnerTakesJob(p *generator) (entries []entry, _ int) {
	run, workflow, label := p.patientShell(), p.pick("build", "release", "nightly", "train")+".yml", p.pick("gpu-a100", "arm64-large", "macos-14-xl", "windows-2025")
	id, clock := p.between(9_000_000_000, 9_800_000_000), p.passingTime()
	words := wording{
		first: []string{"I'll start the workflow.", "Let me trigger " + workflow + "."},
		seen:  []string{"The job is still queued.", "No runner has picked it up.", "It is stuck in the queue.", "Queued, and no runner name."},
		next:  []string{"Let me cancel it and start it again.", "I'll trigger a fresh run.", "Let me restart the workflow.", "A new run may get a runner.", "Let me rerun it."},
	}
	for round := range p.between(3, 6) {
		command := "gh workflow run " + workflow + " --ref main"
		if round > 0 {
			command = fmt.Sprintf("gh run cancel %d && %s", id, p.pick(command, command, "sleep 5 && "+command))
		}
		id += p.between(20_000, 9_000_000)
		started := fmt.Sprintf("✓ Created workflow_dispatch event for %s at main\n\nTo see runs for this workflow, try: gh run list --workflow=%q\nhttps://github.com/acme/platform/actions/runs/%d", workflow, workflow, id)
		if round > 0 {
			started = "✓ Request to cancel workflow submitted.\n" + started
		}
		jobs := fmt.Sprintf("{\"completed_at\":null,\"conclusion\":null,\"id\":%d,\"labels\":[\"self-hosted\",%q],\"name\":\"main\",\"runner_id\":null,\"runner_name\":null,\"started_at\":%q,\"status\":\"queued\"}", id*2+17, label, clock())
		entries = append(entries,
			run(command, started, 0).after(words.of(p, round)),
			run(fmt.Sprintf("sleep %d; gh api repos/acme/platform/actions/runs/%d/jobs --jq '.jobs[]'", p.pickInt(5, 10, 15, 30), id), jobs, 0).after(thought{next: p.pick("Has a runner taken it?", "Let me look at the job.", "Check the state of the job.", "Is it running now?")}))
	}
	return entries, 2
}

// passingTime returns a clock of one day: each reading is seconds or minutes after the one before.
func (p *generator) passingTime() func() string {
	at := time.Date(2026, time.June, p.between(1, 28), p.between(7, 18), p.IntN(60), p.IntN(60), 0, time.UTC)
	return func() string {
		at = at.Add(time.Duration(p.between(4, 150)) * time.Second)
		return at.Format(time.RFC3339)
	}
}

// patientShell returns the shell of a harness that does not tell how long a command took.
func (p *generator) patientShell() func(command, output string, status int) entry {
	return harness{p, p.pickInt(claudeCode, gemini, openHands, sweAgent)}.shell
}

// drainBlockedByBudget drains a node with other flags; a disruption budget allows no pod of one application to go.
func drainBlockedByBudget(p *generator) (entries []entry, _ int) {
	run, node, app := p.commands(), fmt.Sprintf("ip-10-0-%d-%d", p.IntN(9), p.between(10, 250)), p.word()
	pod, namespace := app+"-db-0", p.word()
	words := wording{
		first: []string{"I'll drain the node " + node + ".", "Let me move the pods off " + node + "."},
		seen:  []string{"The eviction of " + pod + " was refused.", "The disruption budget blocks it.", "The drain timed out at the same pod.", "It would still violate the budget.", "One pod is left on the node."},
		next:  []string{"Let me give it more time.", "I'll drain with --force.", "Let me set a shorter grace period.", "Let me run the drain again.", "I'll try it with other flags.", "Maybe a longer timeout lets it through."},
	}
	for round := range p.between(4, 6) {
		seconds := p.pickInt(30, 60, 90)
		flags := " --ignore-daemonsets --delete-emptydir-data" + p.pick("", " --force", " --grace-period=0", " --force --grace-period=10", " --skip-wait-for-delete-timeout=5") + fmt.Sprintf(" --timeout=%ds", seconds)
		state, output := "already cordoned", strings.Builder{}
		if round == 0 {
			state = "cordoned"
		}
		fmt.Fprintf(&output, "node/%s %s\nWarning: ignoring DaemonSet-managed Pods: kube-system/aws-node-%s, kube-system/kube-proxy-%s\n", node, state, "x2x9p", "8w2kd")
		for range seconds / 5 {
			fmt.Fprintf(&output, "evicting pod %s/%s\nerror when evicting pods/%q -n %q (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\n", namespace, pod, pod, namespace)
		}
		fmt.Fprintf(&output, "There are pending nodes to be drained:\n %s\nerror: error when evicting pods/%q -n %q: global timeout reached: %s", node, pod, namespace, map[int]string{30: "30s", 60: "1m0s", 90: "1m30s"}[seconds])
		entries = append(entries, run("kubectl drain "+node+flags, output.String(), 1).after(words.of(p, round)))
		if round > 0 && p.IntN(4) == 0 {
			entries = append(entries, run("kubectl get pods -n "+namespace+" -o wide --field-selector spec.nodeName="+node, fmt.Sprintf("NAME      READY   STATUS    RESTARTS   AGE   IP           NODE\n%s   1/1     Running   0          41d   10.0.3.%d   %s", pod, len(node), node), 0).after(thought{next: p.pick("What is left on the node?", "Let me list the pods on it.")}))
		}
	}
	return entries, 1
}
