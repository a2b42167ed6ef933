// A few questions with choices; what is right and why is known only to Python (quiz.py).

class QuizView {
  constructor(model, el) {
    this.model = model;
    this.words = model.get("words");
    this.leave = new AbortController();
    this.name = Math.random().toString(36).slice(2);
    this.build(el);
    this.onAnswers = () => this.show();
    this.onScore = () => setText(this.score, model.get("score"));
    model.on("change:answers", this.onAnswers);
    model.on("change:score", this.onScore);
    this.resized = new ResizeObserver(() => {
      if (!this.root.clientWidth) return;
      adoptPanel(this);
      if (!this.looked) readLook(this.root);
      this.looked = true;
    });
    this.resized.observe(this.root);
    this.themed = new MutationObserver(() => readLook(this.root));
    this.themed.observe(document.body, {
      attributes: true,
      attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"],
    });
    this.show();
  }

  build(el) {
    const { words } = this;
    this.questions = this.model.get("questions").map((asked, n) => this.buildQuestion(asked, n));
    this.score = make("div", { className: "andrea-quiz-score" });
    this.root = make(
      "div",
      {
        className: "andrea-view andrea-quiz",
        lang: this.model.get("language"),
        role: "group",
        "aria-label": words.title,
      },
      make("div", { className: "andrea-quiz-title", textContent: words.title }),
      ...this.questions.map((one) => one.field),
      this.score,
    );
    el.append(this.root);
  }

  buildQuestion(asked, n) {
    const { words } = this;
    const id = `andrea-quiz-${this.name}-${n}`;
    const inputs = asked.choices.map((_, place) =>
      make("input", {
        type: asked.several ? "checkbox" : "radio",
        name: id,
        value: String(place),
        id: `${id}-${place}`,
      }),
    );
    const rows = inputs.map((input, place) =>
      make("label", { className: "andrea-quiz-choice" }, input, ` ${asked.choices[place]}`),
    );
    const button = make("button", {
      type: "button",
      textContent: words.answer,
      "aria-label": words.answer_to[n],
    });
    const said = make("div", { className: "andrea-quiz-said", role: "status" });
    const field = make(
      "fieldset",
      { className: "andrea-quiz-question" },
      make("legend", { textContent: `${n + 1}. ${asked.words}${asked.several ? words.several : ""}` }),
      ...rows,
      make("div", { className: "andrea-tools" }, button),
      said,
    );
    const one = { field, inputs, rows, button, said };
    const answer = () => this.answer(n, one);
    button.addEventListener("click", answer);
    for (const input of inputs) {
      input.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.ctrlKey) return;
        event.preventDefault();
        answer();
      });
      // what was said is about another choice
      input.addEventListener("change", () => {
        if (!this.model.get("answers")[n].right) this.say(one, "", "");
      });
    }
    return one;
  }

  answer(n, { inputs, button }) {
    if (this.model.get("answers")[n].right) return;
    const chosen = inputs.flatMap((input, place) => (input.checked ? [place] : []));
    try {
      this.model.send({ type: "answer", question: n, chosen });
    } catch {
      setText(this.score, this.words.no_answer); // the kernel is gone
    }
  }

  say({ field, said }, state, text) {
    field.dataset.state = state;
    setText(said, text);
  }

  show() {
    const answers = this.model.get("answers");
    this.questions.forEach((one, n) => {
      const { chosen, right, said } = answers[n];
      const state = said && (right ? "right" : right === false ? "wrong" : "none");
      if (state !== "none")
        one.inputs.forEach((input, place) => {
          // an answer to one question leaves alone what is being chosen in the others
          if (right || (said && one.shown !== said)) input.checked = chosen.includes(place);
          input.disabled = Boolean(right) && !chosen.includes(place);
        });
      one.button.setAttribute("aria-disabled", String(Boolean(right)));
      if (one.shown !== said || right) this.say(one, state, said);
      one.shown = said;
    });
    setText(this.score, this.model.get("score"));
  }

  remove() {
    this.leave.abort();
    this.resized.disconnect();
    this.themed.disconnect();
    this.model.off("change:answers", this.onAnswers);
    this.model.off("change:score", this.onScore);
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const view = new QuizView(model, el);
    return () => view.remove();
  },
};
