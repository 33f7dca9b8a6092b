"""Of loops that wait for the GPU."""

CASES = {
    "host_sync: a loop of PyTorch": """\
        import torch

        def train(loader):
            for step, batch in enumerate(loader):
                mel = batch["mel"].to(device)
                loss = model(mel)
                total += loss.item()  #! host_sync
                loss.backward()
                kept.append(loss.detach().cpu().numpy())  #! host_sync
                history.append(float(loss))  #! host_sync
                norms.append(grad_norm.to("cpu"))  #! host_sync
                if use_amp:
                    scale.append(scaler_value.tolist())  #! host_sync
        """,
    "host_sync: a script that trains outside of every function": """\
        import torch

        model = torch.nn.Linear(2, 2).cuda()
        for epoch in range(10):
            for batch in loader:
                loss = model(batch.cuda()).mean()
                loss.backward()
                print(loss.item())  #! host_sync
                if step % 100 == 0:
                    print(loss.item())
            print(loss.item())

        def show(loss):
            print(loss.item())
        """,
    "host_sync: a script that trains on the CPU": """\
        import torch

        model = torch.nn.Linear(2, 2)
        for batch in loader:
            loss = model(batch).mean()
            loss.backward()
            print(loss.item())
        """,
    "host_sync: a threshold is no seldom condition, and each of several loops counts": """\
        class Trainer:
            def train_step(self, batch):
                steps = self.steps.item()
                for part in parts:
                    loss = model(part)
                    loss.backward()
                    if self.steps > self.config["generator_start"]:
                        self.sums += loss.item()  #! host_sync
                for part in parts:
                    other = model(part)
                    other.backward()
                    if self.steps == 0:
                        print(other.item())
                    if self.rank == 0:
                        self.sums += accelerator.gather(other).mean().item()  #! host_sync

            def fit(self, data):
                while self.steps < 10:
                    self.train_step(next(data))
        """,
    "host_sync: seldom, on the host, or not in training": """\
        import numpy as np

        def train(loader):
            for step, (texts, lengths) in enumerate(loader):
                longest = lengths.max().item()
                texts = texts.cuda()
                loss = model(texts, longest)
                loss.backward()
                if step % 100 == 0:
                    print(loss.item())
                if step % hps.log_interval == 0 and rank == 0:
                    writer.add_scalar("loss", loss.item())
                if should_save:
                    torch.save(model.cpu())
                rate = float(config.lr)
                share = np.mean(lengths.numpy()).item()
                for batch in val_loader:
                    sum += model(batch).item()
                with torch.no_grad():
                    accuracy = measure().item()
                def shown():
                    return loss.item()
                try:
                    optimizer.step()
                except RuntimeError:
                    print(loss.item())
            print(loss.item())

        def validate(loader):
            for batch in loader:
                loss = model(batch)
                loss.backward()
                total += loss.item()

        def read(rows):
            for row in rows:
                yield row.item()
        """,
    "host_sync: the step is a function, and the waits are in the loop or in the step": {
        "trainer.py": """\
        class Trainer:
            def train_step(self, batch):
                loss = self.model(batch)
                self.seen = loss.item()  #! host_sync
                loss.backward()
                return {"loss": loss}

            def train(self):
                for batch in self.loader:
                    losses = self.train_step(batch)
                    for key, value in losses.items():
                        self.sums[key] += float(value)  #! host_sync
                self.report(float(losses["loss"]))
        """,
        "module.py": """\
        import pytorch_lightning as pl

        class Module(pl.LightningModule):
            def training_step(self, batch, index):
                loss = self(batch)
                self.last = loss.item()  #! host_sync
                return loss

            def validation_step(self, batch, index):
                return self(batch).item()
        """,
    },
    "host_sync: a compiled step cannot wait": """\
        import tensorflow as tf

        @tf.function
        def train_step(batch):
            with tf.GradientTape() as tape:
                loss = model(batch)
            try:
                shown = float(loss.numpy())
            except AttributeError:
                shown = None
            return tape.gradient(loss, v)

        for batch in data:
            train_step(batch)
        """,
}
