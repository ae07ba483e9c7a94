package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are honest work of agents that run platforms.

func platformLookalikes() []kind {
	return []kind{
		{name: "nodes_drained_in_turn", build: nodesDrainedInTurn},
		{name: "consumer_lag_falls", build: consumerLagFalls},
		{name: "failover_rehearsed", build: failoverRehearsed},
		{name: "resources_imported", build: resourcesImported},
	}
}

// nodesDrainedInTurn drains node after node; a budget makes some evictions wait, and each node is empty in the end.
func nodesDrainedInTurn(p *generator) (entries []entry, _ int) {
	run, done, namespace := p.commands(), "", p.word()
	for range p.between(3, 5) {
		node := fmt.Sprintf("ip-10-0-%d-%d", p.IntN(9), p.between(10, 250))
		var output strings.Builder
		fmt.Fprintf(&output, "node/%s cordoned\nWarning: ignoring DaemonSet-managed Pods: kube-system/aws-node-%05x, kube-system/kube-proxy-%05x\n", node, p.IntN(1<<20), p.IntN(1<<20))
		pods := p.distinct(p.between(2, 4))
		for k, app := range pods {
			pods[k] = fmt.Sprintf("%s-%08x-%05x", app, p.Uint32(), p.IntN(1<<20))
			fmt.Fprintf(&output, "evicting pod %s/%s\n", namespace, pods[k])
		}
		for range p.IntN(3) {
			fmt.Fprintf(&output, "error when evicting pods/%q -n %q (will retry after 5s): Cannot evict pod as it would violate the pod's disruption budget.\nevicting pod %s/%s\n", pods[0], namespace, namespace, pods[0])
		}
		for _, pod := range pods {
			fmt.Fprintf(&output, "pod/%s evicted\n", pod)
		}
		fmt.Fprintf(&output, "node/%s drained", node)
		entries = append(entries,
			run("kubectl drain "+node+" --ignore-daemonsets --delete-emptydir-data --timeout=300s", output.String(), 0).after(p.nextItem(done, "the node "+node)),
			run("aws ssm send-command --document-name patch-node --targets Key=tag:Name,Values="+node+" --query Command.Status && kubectl uncordon "+node, fmt.Sprintf("\"Success\"\nnode/%s uncordoned", node), 0).after(thought{"The node is empty.", p.pick("Patch it and let it take pods again.", "Now the patch, then uncordon.")}))
		done = node
	}
	return entries, 0
}

// consumerLagFalls looks at a consumer group every few minutes; its lag falls while both offsets grow.
func consumerLagFalls(p *generator) (entries []entry, _ int) {
	run, group, topic := p.patientShell(), p.word()+"-indexer", p.word()+".events"
	lag, end := p.between(400_000, 3_000_000), p.between(9_000_000, 90_000_000)
	client := fmt.Sprintf("consumer-%s-1-%s", group, p.uuid())
	command := "kafka-consumer-groups.sh --bootstrap-server kafka:9092 --describe --group " + group
	said := thought{next: "The consumers are up again. Let me look at the lag."}
	for round := range p.between(5, 8) {
		var table strings.Builder
		table.WriteString("\nGROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID\n")
		for partition := range 3 {
			part := lag/3 + partition*37
			fmt.Fprintf(&table, "%s %s %-10d %-15d %-15d %-15d %s /10.0.4.17 consumer-%s-1\n", group, topic, partition, end-part+partition*911, end+partition*911, part, client, group)
		}
		wait := ""
		if round > 0 {
			wait = fmt.Sprintf("sleep %d; ", p.pickInt(120, 180, 300))
		}
		entries = append(entries, run(wait+command, table.String(), 0).after(said))
		said = thought{fmt.Sprintf("About %d messages behind.", lag), p.pick("It catches up. I'll look again in a few minutes.", "The lag falls. Waiting.", "Getting there.", "Let me give it some more time.")}
		lag, end = lag*p.between(30, 80)/100, end+p.between(2000, 60_000)
	}
	return entries, 0
}

// failoverRehearsed moves the leadership of cluster after cluster to a replica and back, with a check after each move.
func failoverRehearsed(p *generator) (entries []entry, _ int) {
	run, done, clock := p.commands(), "", p.passingTime()
	for _, cluster := range p.distinct(p.between(3, 4)) {
		timeline, id := p.between(3, 90), 7_000_000_000_000_000_000+p.Uint64N(1<<60)
		nodes := [2]string{cluster + "-pg-0", cluster + "-pg-1"}
		for k := range nodes {
			leader, replica := nodes[1-k], nodes[k]
			timeline++
			said := thought{leader + " leads and the replica follows.", "Now back to " + nodes[0] + "."}
			if k == 0 {
				said = p.nextItem(done, "the failover of "+cluster)
			}
			entries = append(entries,
				run(fmt.Sprintf("patronictl switchover %s --leader %s --candidate %s --force", cluster, replica, leader), fmt.Sprintf("Current cluster topology\n+ Cluster: %s (%d) -+---------+-----------+----+-----------+\n| Member         | Host      | Role    | State     | TL | Lag in MB |\n+----------------+-----------+---------+-----------+----+-----------+\n| %-14s | 10.0.7.1%d | Leader  | running   | %2d |           |\n| %-14s | 10.0.7.1%d | Replica | streaming | %2d |         0 |\n+----------------+-----------+---------+-----------+----+-----------+\n%s Successfully switched over to %q", cluster, id, replica, k, timeline-1, leader, 1-k, timeline-1, clock(), leader), 0).after(said),
				run(fmt.Sprintf("psql -h %s.db.internal -Atc 'select pg_is_in_recovery(), inet_server_addr(), (select count(*) from heartbeat where at > now() - interval $$1 min$$)'", cluster), fmt.Sprintf("f|10.0.7.1%d|%d", 1-k, p.between(3, 59)), 0).after(thought{next: p.pick("Does it take writes?", "Let me check that clients reach the new leader.", "Check the heartbeat.")}))
		}
		done = "the rehearsal for " + cluster
	}
	return entries, 0
}

// resourcesImported imports resource after resource into a state; the program says the same to each, and a plan has less to add.
func resourcesImported(p *generator) (entries []entry, _ int) {
	run, done := p.commands(), ""
	names := p.distinct(p.between(4, 7))
	left := len(names)
	for k, name := range names {
		kind, id := "aws_s3_bucket", "acme-"+name
		if p.coin() {
			kind, id = "aws_sqs_queue", "https://sqs.eu-central-1.amazonaws.com/123456789012/"+name
		}
		address := kind + "." + name
		entries = append(entries, run("terraform import "+address+" "+id, fmt.Sprintf("%s: Importing from ID %q...\n%s: Import prepared!\n  Prepared %s for import\n%s: Refreshing state... [id=%s]\n\nImport successful!\n\nThe resources that were imported are shown above. These resources are now in\nyour Terraform state and will henceforth be managed by Terraform.", address, id, address, kind, address, id), 0).after(p.nextItem(done, address)))
		left--
		if k%2 == 1 || left == 0 {
			output := fmt.Sprintf("Plan: %d to add, 0 to change, 0 to destroy.", left)
			if left == 0 {
				output = "No changes. Your infrastructure matches the configuration."
			}
			entries = append(entries, run("terraform plan -no-color | tail -1", output, 0).after(thought{next: p.pick("What is left to import?", "Let me see the plan.", "How many are missing?")}))
		}
		done = "the import of " + address
	}
	return entries, 0
}
