package splice

import (
	"fmt"
	"strings"
)

// The lookalikes of this file are the honest work of agents that operate a cloud platform: one resource, one right, one broker after the
// other.

func fleetLookalikes() []kind {
	return []kind{
		{name: "idle_disks_deleted_in_turn", build: idleDisksDeletedInTurn},
		{name: "brokers_restarted_in_turn", build: brokersRestartedInTurn},
		{name: "denied_actions_granted_in_turn", build: deniedActionsGrantedInTurn},
		{name: "prefixes_measured_for_cost", build: prefixesMeasuredForCost},
	}
}

// idleDisksDeletedInTurn deletes one disk after the other; the command prints little, and the number of those left falls.
func idleDisksDeletedInTurn(p *generator) (entries []entry, _ int) {
	run, left, form := p.operator(), p.between(9, 60), p.IntN(3)
	each := p.between(1, 2)
	for k := range p.between(6, 9) {
		id := []string{fmt.Sprintf("vol-0%015x", p.Uint64N(1<<60)), "disk-" + p.word() + "-" + fmt.Sprint(p.between(1, 99)), fmt.Sprintf("pvc-%s", p.uuid())}[form]
		command := []string{"aws ec2 delete-volume --volume-id " + id, "az disk delete --yes -g prod -n " + id, "gcloud compute disks delete --quiet " + id}[form]
		answer := []string{"", "", "Deleted [https://compute.example/projects/prod/zones/europe-west1-b/disks/" + id + "]."}[form]
		last := ""
		if k > 0 {
			last = "the last disk"
		}
		entries = append(entries, run(command, answer, 0).after(p.nextItem(last, "`"+id+"`")))
		if left--; k%each == 0 {
			count := []string{"aws ec2 describe-volumes --filters Name=status,Values=available --query 'length(Volumes)'", "az disk list -g prod --query \"length([?diskState=='Unattached'])\"", "gcloud compute disks list --filter='-users:*' --format='value(name)' | wc -l"}[form]
			entries = append(entries, run(count, fmt.Sprint(left), 0).after(thought{"", p.pick("How many are left?", "Let me count what is left.", "")}))
		}
	}
	return entries, 0
}

// brokersRestartedInTurn restarts one member of a cluster after the other, and waits each time until the cluster has caught up.
func brokersRestartedInTurn(p *generator) (entries []entry, _ int) {
	run, pause := p.operator(), p.between(10, 60)
	cluster := []struct{ restart, check, behind, whole string }{
		{"ssh kafka-%d sudo systemctl restart kafka", "kafka-topics.sh --bootstrap-server kafka-1:9092 --describe --under-replicated-partitions | wc -l", "%d", "0"},
		{"ssh es-%d sudo systemctl restart elasticsearch", "curl -s localhost:9200/_cluster/health?filter_path=status,unassigned_shards", "{\"status\":\"yellow\",\"unassigned_shards\":%d}", "{\"status\":\"green\",\"unassigned_shards\":0}"},
		{"kubectl delete pod mongo-%d", "mongosh --quiet --eval 'rs.status().members.map(m => m.optimeLag)'", "lag of the member: %d s, state RECOVERING", "lag of the member: 0 s, state SECONDARY"},
	}[p.IntN(3)]
	for k := range p.between(3, 5) {
		restart, said := fmt.Sprintf(cluster.restart, k+1), ""
		if strings.HasPrefix(restart, "kubectl") {
			said = fmt.Sprintf("pod \"mongo-%d\" deleted", k+1)
		}
		last := ""
		if k > 0 {
			last = fmt.Sprintf("member %d", k)
		}
		entries = append(entries, run(restart, said, 0).after(p.nextItem(last, fmt.Sprintf("member %d", k+1))))
		behind := p.between(60, 900)
		for range p.between(2, 4) {
			entries = append(entries, run(fmt.Sprintf("sleep %d && %s", pause, cluster.check), fmt.Sprintf(cluster.behind, behind), 0).after(thought{"", p.pick("Has it caught up?", "Let me wait until it has caught up.", "It catches up. I wait.")}))
			behind = behind * p.between(15, 70) / 100
		}
		entries = append(entries, run(fmt.Sprintf("sleep %d && %s", pause, cluster.check), cluster.whole, 0))
	}
	return entries, 0
}

// deniedActionsGrantedInTurn grants the action that a job lacks and runs the job again; it gets to the next action, and in the end through.
func deniedActionsGrantedInTurn(p *generator) (entries []entry, _ int) {
	run, job, role := p.operator(), p.workload(), p.word()+"-deployer"
	command := p.pick("./deploy.sh "+job, "terraform apply -auto-approve", "python -m backup --target "+job, "make release SERVICE="+job)
	form := p.IntN(2)
	actions := [][]string{
		{"s3:GetObject", "s3:ListBucket", "kms:Decrypt", "ecr:BatchGetImage", "ecs:UpdateService", "iam:PassRole", "logs:CreateLogGroup", "secretsmanager:GetSecretValue", "elasticloadbalancing:DescribeTargetGroups"},
		{"storage.buckets.get", "storage.objects.list", "run.services.update", "iam.serviceaccounts.actAs", "artifactregistry.repositories.downloadArtifacts", "cloudsql.instances.connect", "secretmanager.versions.access", "logging.logEntries.create"},
	}[form]
	w := wording{
		[]string{"Let me run the job."},
		[]string{"Now it lacks another right.", "That is granted, and the next one is missing.", "It got one step further.", ""},
		[]string{"I'll grant the one that is missing.", "Let me add this action to the role.", "Let me extend the policy.", "The same for this action."},
	}
	for k, action := range p.shuffled(actions...)[:p.between(5, 7)] {
		steps := fmt.Sprintf("[%d/9] %s done in %d.%ds\n", k+1, p.word(), p.IntN(20), p.IntN(10))
		denied := []string{
			fmt.Sprintf("%sAn error occurred (AccessDenied): User: arn:aws:sts::%d:assumed-role/%s/ci is not authorized to perform: %s because no identity-based policy allows the action", steps, 412000000000+int64(len(role)), role, action),
			fmt.Sprintf("%sERROR: (gcloud) PERMISSION_DENIED: Permission '%s' denied for %s@prod.example (or it may not exist)", steps, action, role),
		}[form]
		grant := []string{
			"aws iam put-role-policy --role-name " + role + " --policy-name allow-" + fmt.Sprint(k) + " --policy-document '{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"" + action + "\",\"Resource\":\"*\"}]}'",
			"gcloud iam roles update " + role + " --project prod --add-permissions " + action,
		}[form]
		answer := []string{"", "etag: BwY" + fmt.Sprintf("%08x", p.Uint32()) + "\nincludedPermissions:\n- " + action}[form]
		again := thought{"", p.pick("Let me run it again.", "Now the job once more.", "Does it get further?")}
		if k == 0 {
			again = w.of(p, 0)
		}
		entries = append(entries, run(command, denied, 1).after(again), run(grant, answer, 0).after(w.of(p, k+1)))
	}
	return append(entries, run(command, fmt.Sprintf("[9/9] %s done in %d.%ds\nAll steps finished.", p.word(), p.IntN(20), p.IntN(10)), 0).after(thought{"", "Let me run it again."})), 0
}

// prefixesMeasuredForCost measures one prefix of a bucket after the other.
func prefixesMeasuredForCost(p *generator) (entries []entry, _ int) {
	run, bucket, form := p.operator(), p.word()+"-"+p.word(), p.IntN(3)
	last := ""
	for _, prefix := range p.distinctWords(p.between(7, 11)) {
		size, objects := fmt.Sprintf("%d.%d GiB", p.between(1, 900), p.IntN(10)), p.between(100, 900_000)
		command := []string{
			"aws s3 ls --summarize --human-readable --recursive s3://" + bucket + "/" + prefix + "/ | tail -2",
			"gsutil du -sh gs://" + bucket + "/" + prefix,
			"az storage blob list --account-name " + strings.ReplaceAll(bucket, "-", "") + " -c data --prefix " + prefix + "/ --query '[length(@), sum([].properties.contentLength)]' -o tsv",
		}[form]
		output := []string{
			fmt.Sprintf("Total Objects: %d\n   Total Size: %s", objects, size),
			size + "    gs://" + bucket + "/" + prefix,
			fmt.Sprintf("%d\t%d", objects, p.Uint64N(1<<40)),
		}[form]
		next := "the prefix " + prefix
		entries = append(entries, run(command, output, 0).after(p.nextItem(last, next)))
		last = next
	}
	return entries, 0
}
