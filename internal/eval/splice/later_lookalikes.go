package splice

import (
	"fmt"
	"strings"
)

// The look-alikes of this file were written after the progress meter, to report on. Those marked as read were tuned on since.

func laterLookalikes() []kind {
	return []kind{
		{name: "images_converted", build: imagesConverted},
		{name: "regions_deployed", build: regionsDeployed},
		{name: "values_printed", read: true, build: valuesPrinted},
		{name: "test_matrix", build: testMatrix},
		{name: "cherry_picks", build: cherryPicks},
		{name: "orders_looked_up", build: ordersLookedUp},
		{name: "checkout_pages", build: checkoutPages},
		{name: "conflicts_resolved", build: conflictsResolved},
		{name: "rows_in_batches", read: true, build: rowsInBatches},
		{name: "interview", read: true, build: interview},
		{name: "jobs_of_a_pipeline", build: jobsOfAPipeline},
		{name: "restarted_until_well", build: restartedUntilWell},
		{name: "months_summed_up", build: monthsSummedUp},
		{name: "review_comments", build: reviewComments},
		{name: "todos_done", build: todosDone},
	}
}

// imagesConverted converts picture after picture, and each is told in the same words.
func imagesConverted(p *generator) (entries []entry, _ int) {
	for range p.between(6, 10) {
		name := p.word() + "-" + p.word()
		entries = append(entries, p.shell("ffmpeg -i "+name+".mov -vf scale=1280:-1 "+name+".mp4", fmt.Sprintf("Input #0, mov, from '%s.mov':\n  Duration: 00:0%d:%02d\nOutput #0, mp4, to '%s.mp4':\nframe=%d fps=%d size=%dkB", name, p.IntN(9), p.IntN(60), name, p.between(100, 9000), p.between(20, 90), p.between(100, 90000)), 0))
	}
	return entries, 0
}

// regionsDeployed deploys to region after region.
func regionsDeployed(p *generator) (entries []entry, _ int) {
	stack := p.word()
	for _, region := range p.shuffled("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-south-1", "sa-east-1", "ca-central-1")[:p.between(4, 7)] {
		entries = append(entries, p.shell("aws cloudformation deploy --stack-name "+stack+" --region "+region, "Waiting for changeset to be created..\nWaiting for stack create/update to complete\nSuccessfully created/updated stack - "+stack, 0))
	}
	return entries, 0
}

// valuesPrinted adds a print, runs the script, and learns another value each time.
func valuesPrinted(p *generator) (entries []entry, _ int) {
	path := p.path()
	for range p.between(4, 7) {
		entries = append(entries, p.edit(path), p.shell("python "+path, fmt.Sprintf("DEBUG %s = %s\nTraceback (most recent call last):\n  File \"%s\", line %d\nKeyError: '%s'", p.word(), p.phrase(2, 4), path, p.between(3, 200), p.word()), 1))
	}
	return entries, 0
}

// testMatrix runs the tests under version after version.
func testMatrix(p *generator) (entries []entry, _ int) {
	passed := p.between(20, 400)
	for _, version := range []string{"3.9", "3.10", "3.11", "3.12", "3.13"} {
		entries = append(entries, p.shell("tox -e py"+strings.ReplaceAll(version, ".", ""), fmt.Sprintf("py%s: commands[0]> pytest\n%d passed in %d.%02ds\n  py%s: OK\n  congratulations :)", version, passed, p.between(2, 20), p.IntN(100), version), 0))
	}
	return entries, 0
}

// cherryPicks takes commit after commit over to a branch.
func cherryPicks(p *generator) (entries []entry, _ int) {
	for range p.between(5, 8) {
		commit := fmt.Sprintf("%07x", p.IntN(1<<28))
		entries = append(entries, p.shell("git cherry-pick "+commit, fmt.Sprintf("[release %07x] %s\n Date: %s\n 1 file changed, %d insertions(+), %d deletions(-)", p.IntN(1<<28), p.phrase(3, 6), p.clock(), p.between(1, 40), p.between(1, 40)), 0))
	}
	return entries, 0
}

// ordersLookedUp looks up the orders of one customer; most are in the same state.
func ordersLookedUp(p *generator) (entries []entry, _ int) {
	user := p.word() + "_" + p.word()
	for range p.between(5, 8) {
		id := fmt.Sprintf("#W%07d", p.IntN(1e7))
		entries = append(entries, call("get_order_details", object("order_id", id), object("order_id", id, "user_id", user, "status", p.pick("delivered", "delivered", "pending"), "items", []string{p.phrase(1, 3), p.phrase(1, 3)}, "total", fmt.Sprint(p.between(10, 999)))))
	}
	return entries, 0
}

// checkoutPages goes on from page to page of a checkout, whose references are new each time.
func checkoutPages(p *generator) (entries []entry, _ int) {
	for _, title := range []string{"Cart", "Address", "Delivery", "Payment", "Review", "Thank you"} {
		page := fmt.Sprintf("- Page URL: https://shop.example/checkout/%s\n- Page Title: %s\n- Page Snapshot:\n", strings.ToLower(strings.Fields(title)[0]), title)
		for _, part := range p.words(4) {
			page += fmt.Sprintf("  - textbox %q [ref=s1e%d]\n", part, p.between(10, 9999))
		}
		page += fmt.Sprintf("  - button \"Continue\" [ref=s1e%d]\n", p.between(10, 9999))
		entries = append(entries, call("browser_click", object("element", "Continue", "ref", fmt.Sprintf("s1e%d", p.between(10, 9999))), quoted(page)))
	}
	return entries, 0
}

// conflictsResolved resolves the conflicts of a rebase, commit by commit.
func conflictsResolved(p *generator) (entries []entry, _ int) {
	for k := range p.between(4, 6) {
		path := p.path()
		entries = append(entries, p.edit(path), p.shell("git add "+path+" && git rebase --continue", fmt.Sprintf("Auto-merging %s\nCONFLICT (content): Merge conflict in %s\nerror: could not apply %07x... %s\nRebasing (%d/9)", path, p.path(), p.IntN(1<<28), p.phrase(2, 5), k+1), 1))
	}
	return entries, 0
}

// rowsInBatches fills a column range by range; each range has the same number of rows.
func rowsInBatches(p *generator) (entries []entry, _ int) {
	table, column := p.word(), p.word()
	for k := range p.between(6, 12) {
		query := fmt.Sprintf("UPDATE %s SET %s = lower(%s) WHERE id BETWEEN %d AND %d", table, column, column, 1000*k+1, 1000*k+1000)
		entries = append(entries, call("execute_sql", object("query", query), quoted("UPDATE 1000")))
	}
	return entries, 0
}

// interview asks a person for one thing after another.
func interview(p *generator) (entries []entry, _ int) {
	for _, what := range p.shuffled("full name", "date of birth", "street and city", "membership number", "preferred airport", "phone number")[:p.between(4, 6)] {
		entries = append(entries, say("Thank you. Could you please tell me your "+what+"?"), entry{Kind: "message", Role: "user", Text: p.pick("It is ", "Sure: ", "") + p.phrase(1, 3) + "."})
	}
	return entries, 0
}

// jobsOfAPipeline looks at the jobs of a pipeline, of which one more has ended each time.
func jobsOfAPipeline(p *generator) (entries []entry, _ int) {
	jobs, id := p.words(6), p.between(1000, 9999)
	for done := range len(jobs) + 1 {
		var output strings.Builder
		for k, job := range jobs {
			state := "pending"
			if k < done {
				state = "pass"
			}
			fmt.Fprintf(&output, "%s\t%s\t%dm%ds\thttps://ci.example/%d/job/%d\n", job, state, p.IntN(9), p.IntN(60), id, k)
		}
		entries = append(entries, p.shell(fmt.Sprintf("sleep 60; gh pr checks %d", id), output.String(), 0))
	}
	return entries, 0
}

// restartedUntilWell restarts a service under other settings; it comes up at the third.
func restartedUntilWell(p *generator) (entries []entry, _ int) {
	name := p.word()
	for range p.between(1, 2) {
		entries = append(entries, p.edit("/etc/"+name+"/"+name+".conf"), p.shell("systemctl restart "+name, "Job for "+name+".service failed because the control process exited with error code.", 1),
			p.shell("journalctl -u "+name+" -n 2", p.clock()+" "+name+": "+p.phrase(4, 8), 0))
	}
	return append(entries, p.edit("/etc/"+name+"/"+name+".conf"), p.shell("systemctl restart "+name, "", 0), p.shell("systemctl is-active "+name, "active", 0)), 0
}

// monthsSummedUp asks for the same sum of month after month.
func monthsSummedUp(p *generator) (entries []entry, _ int) {
	table := p.word()
	for month := range p.between(6, 12) {
		query := fmt.Sprintf("SELECT sum(amount) FROM %s WHERE month = '2026-%02d'", table, month+1)
		entries = append(entries, call("run_query", object("sql", query), object("columns", []string{"sum"}, "rows", []string{fmt.Sprint(p.between(1000, 99999))})))
	}
	return entries, 0
}

// reviewComments comments on line after line of a change.
func reviewComments(p *generator) (entries []entry, _ int) {
	number := p.between(10, 999)
	for range p.between(5, 8) {
		entries = append(entries, call("github_add_review_comment", object("pull", number, "path", p.path(), "line", p.between(1, 400), "body", p.pick("Consider ", "Please check ", "Why is ", "This may break ")+p.phrase(4, 9)), object("id", p.between(100000, 999999), "state", "PENDING", "pull", number)))
	}
	return entries, 0
}

// todosDone marks task after task as done, with a change and a test of it in between.
func todosDone(p *generator) (entries []entry, _ int) {
	tasks := make([]string, p.between(4, 6))
	for k := range tasks {
		tasks[k] = p.phrase(3, 6)
	}
	for done := range len(tasks) + 1 {
		todos := make([]string, len(tasks))
		for k, task := range tasks {
			todos[k] = task + " (pending)"
			if k < done {
				todos[k] = task + " (completed)"
			}
		}
		entries = append(entries, call("TodoWrite", object("todos", todos), quoted("Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress.")), p.edit(p.path()), p.tests("31 passed"))
	}
	return entries, 0
}
